import { setTimeout as sleep } from 'node:timers/promises'
import { serveXds } from '../../dist/adapters/xds/index.js'
import { encodeTree } from '../../dist/core/encode-tree.js'
import { treeOf } from '../../dist/core/matcher-tree.js'
import { routesSize, writeRoutes } from '../../dist/core/splice.js'
import { RouteConfiguration } from '../../dist/gen/envoy/config/route/v3/route.js'
import { VirtualHost } from '../../dist/gen/envoy/config/route/v3/route_components.js'
import {
  bytesResource,
  defaultDataPlane,
  entries,
  routeType,
  translate,
  typeUrls,
  view,
  viewOf,
} from '../../dist/index.js'
import { load } from './load.mjs'
import { freePort, startEdge } from './processes.mjs'

/** The two forms of a host, and the first part of the name of the host that has it. */
export const forms = ['list', 'tree']

/** An answer comes on each connection before the next request leaves: Envoy closes those on which many wait. */
const connections = 32

/** After the ACK the worker may still have to take the table in; in milliseconds. */
const restMs = 200

/**
 * A real Envoy with the same routes on two hosts: as the plain list, and as the tree over their paths.
 *
 * `show` has it serve that many prefixes, whether a tree pays or not, and tells the `fragments` of a host and the
 * `bytes` of each form. `load` sends requests for a path to one of the hosts.
 */
export const startTwoForms = async () => {
  const port = await freePort()
  const context = contextOf(port)
  const stop = new globalThis.AbortController()
  let accepted = 0
  const observer = ({ _tag, typeUrl, error }) => {
    if (_tag === 'ResponseNacked') throw new Error(error.message)
    if (_tag === 'ResponseAcked' && typeUrl === routeType) accepted += 1
  }
  const server = await serveXds({ host: '127.0.0.1', port: 0, observer }, stop.signal)
  server.publish(translate([], context).snapshot)
  const envoy = await startEdge(server.address.port)
  return {
    show: async (count, shape) => {
      const { snapshot, ...made } = worldOf(routesOf(count, shape), context)
      const before = accepted
      server.publish(snapshot)
      while (accepted === before) await sleep(20)
      await sleep(restMs)
      return made
    },
    load: (form, path, forMs) => {
      const request = { host: `${form}.test`, path }
      return load(
        { pid: envoy.pid, port },
        Array.from({ length: connections }).fill(request),
        forMs,
      )
    },
    stop: async () => {
      await envoy.stop()
      stop.abort()
      await server.finished
    },
  }
}

const contextOf = (port) => ({
  dataPlanes: new Map([
    [defaultDataPlane, { listeners: [{ name: 'http', address: '127.0.0.1', port }] }],
  ]),
  services: [],
  endpointSlices: [],
})

/** That many prefixes, and one that takes everything else: in a tree it stands in every list. */
const routesOf = (count, shape) =>
  ['/', ...Array.from({ length: count }, (_, i) => `/prefix-${10_000 + i}`)].map((prefix, i) => ({
    metadata: { namespace: 'bench', name: `r${i}`, uid: `u${i}`, generation: 1, finalizers: [] },
    spec: {
      hostnames: ['one.test'],
      matches: [{ path: { prefix }, ...(shape === 'prefix' ? {} : { methods: ['GET'] }) }],
      respond: { code: 200, body: 'x' },
    },
  }))

const worldOf = (routes, context) => {
  const { snapshot } = translate(routes, context)
  const own = viewOf(snapshot, defaultDataPlane)
  const [{ content }] = [...entries(own[routeType])]
  const { fragments } = content.table.virtualHosts[0]
  const bytes = { list: spliced(0x1a, fragments), tree: encodeTree(treeOf(fragments)) }
  const virtualHosts = forms.map((form) =>
    VirtualHost.decode(
      Buffer.concat([
        VirtualHost.encode({ name: form, domains: [`${form}.test`] }).finish(),
        bytes[form],
      ]),
    ),
  )
  const made = RouteConfiguration.encode({ name: 'http', virtualHosts }).finish()
  const all = Object.fromEntries(typeUrls.map((type) => [type, [...entries(own[type])]]))
  const spoken = view({ ...all, [routeType]: [bytesResource('http', made)] })
  return { snapshot: { dataPlanes: new Map([[defaultDataPlane, spoken]]) }, bytes, fragments }
}

const spliced = (tag, routes) => {
  const bytes = new Uint8Array(routesSize(routes))
  writeRoutes(bytes, 0, tag, routes)
  return bytes
}
