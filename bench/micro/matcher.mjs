// What a tree over paths spares a real Envoy, against the plain list of the same routes; decision 0015.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveXds } from '../../dist/adapters/xds/index.js'
import { encodeTree } from '../../dist/core/encode-tree.js'
import { flattened } from '../../dist/core/matcher-tree.js'
import { routesSize, writeRoutes } from '../../dist/core/splice.js'
import { RouteConfiguration } from '../../dist/gen/envoy/config/route/v3/route.js'
import { VirtualHost } from '../../dist/gen/envoy/config/route/v3/route_components.js'
import { bootstrap } from '../../dist/host/bootstrap.js'
import { envoyCacheDirectory, findEnvoy } from '../../dist/host/cli/demo/envoy-binary.js'
import { startEnvoy } from '../../dist/host/cli/demo/envoy-process.js'
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
import { median, table } from './measure.mjs'

const counts = [16, 64, 128, 1_000, 10_000]
const shapes = ['prefix', 'prefix + method']
const forms = ['list', 'tree']
const rounds = 3
const roundMs = 500
/** With a request each, one after the other: Envoy closes connections on which many wait. */
const sockets = 32

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
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

const port = await freePort()
const listeners = [{ name: 'http', address: '127.0.0.1', port }]
const context = {
  dataPlanes: new Map([[defaultDataPlane, { listeners }]]),
  services: [],
  endpointSlices: [],
}

const spliced = (tag, routes) => {
  const bytes = new Uint8Array(routesSize(routes))
  writeRoutes(bytes, 0, tag, routes)
  return bytes
}

/** The routes of one table as its bytes in both forms. */
const bothForms = (fragments) => ({
  list: spliced(0x1a, fragments),
  tree: encodeTree(flattened(fragments)),
})

const worldOf = (count, shape) => {
  const { snapshot } = translate(routesOf(count, shape), context)
  const own = viewOf(snapshot, defaultDataPlane)
  const [{ content }] = [...entries(own[routeType])]
  const { fragments } = content.table.virtualHosts[0]
  const bytes = bothForms(fragments)
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

/** Ten milliseconds each: what the process has had of the processor. */
const cpuMs = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Sends the next request when a response has come: each is short enough to come in one piece. */
const loadOn = (request, until) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answered = 0
    socket.on('error', reject)
    socket.on('close', () => resolve(answered))
    socket.on('connect', () => socket.write(request))
    socket.on('data', (data) => {
      if (answered === 0 && !data.toString().startsWith('HTTP/1.1 200'))
        reject(new Error(data.toString()))
      answered += 1
      if (performance.now() < until) socket.write(request)
      else socket.destroy()
    })
  })

const load = async (pid, host, path) => {
  const request = `GET ${path} HTTP/1.1\r\nhost: ${host}.test\r\n\r\n`
  const [startedAt, before] = [performance.now(), cpuMs(pid)]
  const loads = Array.from({ length: sockets }, () => loadOn(request, startedAt + roundMs))
  const answers = (await Promise.all(loads)).reduce((a, b) => a + b)
  return {
    perSecond: (answers * 1_000) / (performance.now() - startedAt),
    cpuUs: ((cpuMs(pid) - before) * 1_000) / answers,
  }
}

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

const measure = async (pid, fragments) => {
  // The one that takes everything else comes last of all.
  const paths = { first: fragments[0].path.value, last: fragments.at(-2).path.value }
  const found = new Map()
  for (let round = 0; round < rounds; round++)
    for (const form of forms)
      for (const which of ['first', 'last']) {
        const key = `${form} ${which}`
        found.set(key, [...(found.get(key) ?? []), await load(pid, form, paths[which])])
      }
  return (key, field) => middle(found.get(key).map((each) => each[field]))
}

const found = await findEnvoy({
  env: process.env,
  cacheDirectory: envoyCacheDirectory(process.env),
  say: console.error,
  signal: new globalThis.AbortController().signal,
})
if (found._tag === 'Left') throw new Error(found.left.join('; '))
const stopping = new globalThis.AbortController()
let answered = 0
const observer = ({ _tag, typeUrl, error }) => {
  if (_tag === 'ResponseNacked') throw new Error(error.message)
  if (_tag === 'ResponseAcked' && typeUrl === routeType) answered += 1
}
const server = await serveXds({ host: '127.0.0.1', port: 0, observer }, stopping.signal)
server.publish(translate([], context).snapshot)
const directory = await mkdtemp(join(tmpdir(), 'edgewright-bench-'))
const envoy = await startEnvoy({
  path: found.right.path,
  directory,
  bootstrap: bootstrap({
    xds: server.address,
    variant: 'delta',
    id: 'bench',
    admin: { host: '127.0.0.1', port: 0 },
  }),
  concurrency: 1,
})
const rows = []
for (const [count, shape] of counts.flatMap((n) => shapes.map((shape) => [n, shape]))) {
  const { snapshot, bytes, fragments } = worldOf(count, shape)
  const before = answered
  server.publish(snapshot)
  while (answered === before) await sleep(20)
  await sleep(200)
  const figure = await measure(envoy.pid, fragments)
  rows.push({
    prefixes: count,
    shape,
    'list: first us': figure('list first', 'cpuUs'),
    'last us': figure('list last', 'cpuUs'),
    'last /s': Math.round(figure('list last', 'perSecond')),
    'tree: first us': figure('tree first', 'cpuUs'),
    'last us ': figure('tree last', 'cpuUs'),
    'last /s ': Math.round(figure('tree last', 'perSecond')),
    'times /s': figure('tree last', 'perSecond') / figure('list last', 'perSecond'),
    'list KB': bytes.list.length / 1_000,
    'tree KB': bytes.tree.length / 1_000,
    'made in ms': median(5, () => encodeTree(flattened(fragments))),
  })
}
await envoy.stop()
stopping.abort()
await server.finished
await rm(directory, { recursive: true, force: true })
table(rows)
