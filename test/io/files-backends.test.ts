import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { filesRouteSource, readRoutesOnce } from '../../src/adapters/files/index.js'
import { defaultContext } from '../../src/core/context.js'
import { encodeContent } from '../../src/core/resource.js'
import { entries } from '../../src/core/persistent-map.js'
import { viewOf } from '../../src/core/snapshot.js'
import { translate } from '../../src/core/translate.js'
import { endpointType } from '../../src/core/type-url.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { routeDirectory, routeYaml } from '../contract/route-directory.js'
import { patience, watching } from '../contract/route-source.js'

const toWeb = `apiVersion: net.10xdev.io/v1
kind: EdgeRoute
metadata: { namespace: shop, name: web }
spec: { backends: [{ service: { name: web, port: http } }] }
`

/** As `kubectl get -o yaml` prints it, in short. */
const service = `apiVersion: v1
kind: Service
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  name: web
  namespace: shop
  resourceVersion: "7"
spec:
  clusterIP: 10.96.0.7
  ipFamilies: [IPv4]
  ports: [{ name: http, port: 80, protocol: TCP, targetPort: 8080 }]
  selector: { app: web }
status: { loadBalancer: {} }
`

const slice = (...addresses: ReadonlyArray<string>): string => `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: shop, name: web-1, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
endpoints: [${addresses.map((each) => `{ addresses: [${each}], conditions: { ready: true } }`).join()}]
ports: [{ name: http, port: 8080, protocol: TCP }]
`

/** What is served of a state, and what is told of the route. */
const servedOf = ({ routes, backends }: SourceState) => {
  const { snapshot, verdicts } = translate(routes, { ...defaultContext, ...backends })
  const assignments = [...entries(viewOf(snapshot, 'edge-envoy')[endpointType])].map(
    ({ content }) => ClusterLoadAssignment.decode(encodeContent(content)),
  )
  const endpoints = assignments
    .flatMap(({ endpoints: localities = [] }) => localities)
    .flatMap(({ lbEndpoints = [] }) => lbEndpoints)
  const unresolved = [...verdicts.values()].flatMap((verdict) => verdict.unresolved)
  return [endpoints.length, unresolved.map(({ reason }) => reason).join()]
}

test('a route with its Service and its endpoints in files leads where they say', async () => {
  const directory = await routeDirectory()
  await directory.write('all.yaml', [toWeb, service, slice('10.0.0.1', '10.0.0.2')].join('---\n'))
  const read = await readRoutesOnce(directory.path)()
  if (E.isLeft(read)) throw new Error(read.left.message)
  expect(read.right.problems).toEqual([])
  expect(servedOf(read.right)).toEqual([2, ''])
})

test('endpoints that change in a file, break, or go with it are followed like routes', async () => {
  const directory = await routeDirectory()
  await directory.write('route.yaml', toWeb)
  const watch = watching(filesRouteSource({ directory: directory.path }))
  const served = () => {
    const state = watch.latest()
    return state && servedOf(state)
  }
  await expect.poll(served, patience).toEqual([0, 'ServiceNotFound'])
  expect(watch.latest()).not.toHaveProperty('backends')
  await directory.write('service.yaml', service)
  await expect.poll(served, patience).toEqual([0, 'NoReadyEndpoints'])
  await directory.write('slice.yaml', slice('10.0.0.1'))
  await expect.poll(served, patience).toEqual([1, ''])
  const route = watch.route('web')
  await directory.write('slice.yaml', slice('10.0.0.1', '10.0.0.2', '10.0.0.3'))
  await expect.poll(served, patience).toEqual([3, ''])
  await directory.write('slice.yaml', slice('10.0.0.1').replace('8080', '99999'))
  await expect.poll(() => watch.latest()?.problems.length, patience).toBe(1)
  expect(watch.latest()?.problems).toMatchObject([
    {
      where: 'slice.yaml#1',
      key: undefined,
      keepsLastGood: true,
      errors: [{ path: 'ports[0].port' }],
    },
  ])
  expect(served()).toEqual([3, ''])
  await directory.remove('slice.yaml')
  await expect.poll(served, patience).toEqual([0, 'NoReadyEndpoints'])
  await directory.remove('service.yaml')
  await expect.poll(served, patience).toEqual([0, 'ServiceNotFound'])
  expect(watch.latest()?.backends).toEqual({ services: [], endpointSlices: [] })
  expect(watch.route('web')).toBe(route)
})

test('a directory of routes alone says nothing of backends', async () => {
  const directory = await routeDirectory()
  await directory.write('a.yaml', routeYaml('a'))
  const read = await readRoutesOnce(directory.path)()
  expect(E.isRight(read) && Object.keys(read.right)).toEqual(['routes', 'problems'])
})
