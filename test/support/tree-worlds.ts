import fc from 'fast-check'
import { type EdgeRoute, type Match, routeType, translate, viewOf } from 'edgewright'
import { encodeTree } from '../../src/core/encode-tree.js'
import { treeOf } from '../../src/core/matcher-tree.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Fragment } from '../../src/core/resource.js'
import { Route, VirtualHost } from '../../src/gen/envoy/config/route/v3/route_components.js'

/** Routes of one host, each of which answers with its uid, and requests that come near to them. */
export interface TreeWorld {
  readonly routes: ReadonlyArray<EdgeRoute>
  readonly requests: ReadonlyArray<TreeRequest>
}

export interface TreeRequest {
  /** With the query. */
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
}

/** Few names, one of which begins with another, so that many paths lie above each other or nearly so. */
const segments = fc.array(fc.constantFrom('a', 'b', 'ab', 'a-b', 'exact'), { maxLength: 4 })
const path = segments.map((parts) => `/${parts.join('/')}`)
const oneOfTwo = <A>(value: A): fc.Arbitrary<A | undefined> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, fc.constant(value))

export const matches: fc.Arbitrary<Match> = fc
  .record({
    path: fc.oneof(
      path.map((prefix) => ({ prefix })),
      path.map((exact) => ({ exact })),
      path.map((exact) => ({ exact: exact === '/' ? exact : `${exact}/` })),
    ),
    method: oneOfTwo('POST'),
    header: oneOfTwo('x-a'),
    parameter: oneOfTwo('v'),
  })
  .map(({ path: at, method, header, parameter }) => ({
    path: at,
    ...(method === undefined ? {} : { methods: [method] }),
    ...(header === undefined ? {} : { headers: [{ name: header, exact: '1' }] }),
    ...(parameter === undefined ? {} : { query: [{ name: parameter, exact: '1' }] }),
  }))

const routes: fc.Arbitrary<ReadonlyArray<EdgeRoute>> = fc
  .array(fc.array(matches, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 20 })
  .map((all) => all.map((own, index) => answeringItself(`r${index}`, own)))

/** A route that answers with its uid. */
export const answeringItself = (uid: string, matches: ReadonlyArray<Match>): EdgeRoute => ({
  metadata: { namespace: 'test', name: uid, uid, generation: 1, finalizers: [] },
  spec: { hostnames: ['one.test'], matches, respond: { code: 200, body: uid } },
})

const tails = [
  '',
  '/',
  '/x',
  'c',
  '/b',
  '/b/',
  '?v=1',
  '?q=/a/b',
  '/c?v=1',
  '/exact?v=2',
  'b/b?v=1',
]

const request: fc.Arbitrary<TreeRequest> = fc.record({
  path: fc.tuple(path, fc.constantFrom(...tails)).map((parts) => parts.join('')),
  method: fc.constantFrom('GET', 'POST'),
  headers: fc.constantFrom<Readonly<Record<string, string>>>({}, { 'x-a': '1' }),
})

export const treeWorlds: fc.Arbitrary<TreeWorld> = fc.record({
  routes,
  requests: fc.array(request, { minLength: 10, maxLength: 20 }),
})

/** The routes of the one host of these objects. */
export const fragmentsOf = (all: ReadonlyArray<EdgeRoute>): ReadonlyArray<Fragment> =>
  [...PM.entries(viewOf(translate(all).snapshot, 'edge-envoy')[routeType])].flatMap(
    ({ content }) =>
      content._tag === 'Bytes' ? [] : content.table.virtualHosts.flatMap((host) => host.fragments),
  )

/** The same routes as a list and as a tree, whether that pays or not. */
export const bothForms = (
  fragments: ReadonlyArray<Fragment>,
): Readonly<Record<'list' | 'tree', VirtualHost>> => {
  const tree = treeOf(fragments)
  if (tree === undefined) throw new Error('there is a regular expression among the paths')
  const { matcher } = VirtualHost.decode(encodeTree(tree))
  return {
    list: {
      routes: fragments.map(({ match: head, rest }) => Route.decode(Buffer.concat([head, rest]))),
    },
    tree: { matcher },
  }
}
