import fc from 'fast-check'
import type { Backend, EdgeRoute, EdgeRouteSpec, Match, PathMatch } from '../../core/edge-route.js'
import { edgeRoute } from './routes.js'

type Break = (spec: EdgeRouteSpec) => EdgeRouteSpec

const withPath =
  (path: PathMatch): Break =>
  (spec) => ({ ...spec, matches: [{ path }, ...(spec.matches ?? [])] })

const withMatch =
  (extra: Match): Break =>
  (spec) => ({ ...spec, matches: [...(spec.matches ?? []), extra] })

const withBackends =
  (...all: ReadonlyArray<Backend>): Break =>
  ({ hostnames: hosts, matches: some }) => ({
    backends: all,
    ...(hosts === undefined ? {} : { hostnames: hosts }),
    ...(some === undefined ? {} : { matches: some }),
  })

/** Each makes any valid spec invalid. */
const breaks: ReadonlyArray<Break> = [
  ({ dataPlane = 'edge-envoy' }) => ({ dataPlane }),
  (spec) => ({ ...spec, redirect: { path: '/new' }, respond: { code: 200 } }),
  (spec) => ({ ...spec, dataPlane: 'Not A Name' }),
  (spec) => ({ ...spec, hostnames: [] }),
  (spec) => ({ ...spec, hostnames: ['*'] }),
  (spec) => ({ ...spec, hostnames: ['a.test', 'a.test'] }),
  (spec) => ({ ...spec, hostnames: ['A.test:80'] }),
  (spec) => ({ ...spec, matches: [] }),
  (spec) => ({ ...spec, matches: [{}, { path: { prefix: '/' } }] }),
  withPath({}),
  withPath({ prefix: 'a' }),
  withPath({ exact: '/a?b' }),
  withPath({ exact: '/a', prefix: '/a' }),
  withPath({ regex: '/(' }),
  withPath({ regex: '/a(?=b)' }),
  withMatch({ methods: [] }),
  withMatch({ methods: ['get'] }),
  withMatch({ headers: [{ name: 'host', exact: 'a.test' }] }),
  withMatch({ headers: [{ name: 'x-a' }] }),
  withMatch({ query: [{ name: '', exact: '1' }] }),
  withBackends(),
  withBackends({ weight: 1 }),
  withBackends({ address: { host: '10.0.0.1', port: 0 } }),
  withBackends({ address: { host: '10.0.0.256', port: 80 } }),
  withBackends({ service: { name: 'one', port: 70_000 } }),
  withBackends({ service: { name: 'one', port: 80 }, weight: 0 }),
  withBackends({ service: { name: 'one', port: 80 }, weight: Number.NaN }),
  (spec) => ({ ...withBackends(okBackend)(spec), timeouts: { request: '15' } }),
  (spec) => ({ ...withBackends(okBackend)(spec), retries: { attempts: 0 } }),
  (spec) => ({ ...withBackends(okBackend)(spec), retries: { attempts: 1, on: ['teapot'] } }),
  (spec) => ({ ...withBackends(okBackend)(spec), rewrite: {} }),
  (spec) => ({ ...spec, headers: { request: { set: [{ name: 'x a', value: '' }] } } }),
  (spec) => ({ ...spec, headers: { response: { add: [{ name: 'x-a', value: 'a\r\nb' }] } } }),
]

const okBackend: Backend = { service: { name: 'one', port: 80 } }

/** A route whose spec cannot be served, for one of many reasons. */
export const invalidRoute: fc.Arbitrary<EdgeRoute> = fc
  .tuple(edgeRoute, fc.constantFrom(...breaks))
  .map(([route, damage]) => ({ ...route, spec: damage(route.spec) }))
