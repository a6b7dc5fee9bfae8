import type { Context } from '../../core/context.js'
import { type EdgeRoute, showKey } from '../../core/edge-route.js'
import * as PM from '../../core/persistent-map.js'
import { encodeContent, type Ref } from '../../core/resource.js'
import { danglingRefs, type Snapshot, type View, versionOf } from '../../core/snapshot.js'
import { showVerdict } from '../../core/status.js'
import { translate } from '../../core/translate.js'
import { showTypeUrl, typeUrls } from '../../core/type-url.js'
import type { Violation } from './violation.js'

/** The references of a snapshot that lead nowhere: an Envoy that gets them answers 503, or waits. */
export const openReferences = ({ dataPlanes }: Snapshot): ReadonlyArray<Violation> =>
  [...dataPlanes].flatMap(([dataPlane, view]) =>
    danglingRefs(view).map(({ from, to }) => ({
      law: 'Closed',
      message: `${dataPlane}: ${showRef(from)} needs ${showRef(to)}, which is not there`,
    })),
  )

/**
 * What is wrong with a function that makes a snapshot of routes, as far as these routes show it.
 *
 * It must give the same bytes and versions for the same routes, in whatever order they come, name nothing that is
 * not there, and let nothing of an object stand that is being deleted. Calls it four times.
 *
 * ```ts
 * import assert from 'node:assert/strict'
 * import fc from 'fast-check'
 * import { snapshotOf } from 'edgewright'
 * import { edgeRoutes, translationFaults } from 'edgewright/testing'
 *
 * fc.assert(
 *   fc.property(edgeRoutes, (routes) => {
 *     assert.deepEqual(translationFaults(snapshotOf, routes), [])
 *   }),
 *   { numRuns: 20 },
 * )
 * const first = translationFaults((routes) => snapshotOf(routes.slice(0, 1)), [
 *   route('a', '/a'),
 *   route('b', '/b'),
 * ])
 * assert.deepEqual(new Set(first.map(({ law }) => law)), new Set(['OrderFree']))
 *
 * function route(name: string, prefix: string) {
 *   const metadata = { namespace: 'shop', name, uid: name, generation: 1, finalizers: [] }
 *   return { metadata, spec: { matches: [{ path: { prefix } }], respond: { code: 200 } } }
 * }
 * ```
 */
export const translationFaults = (
  snapshotOf: (routes: ReadonlyArray<EdgeRoute>) => Snapshot,
  routes: ReadonlyArray<EdgeRoute>,
): ReadonlyArray<Violation> => {
  const snapshot = snapshotOf(routes)
  const content = contentOf(snapshot)
  const middle = Math.floor(routes.length / 2)
  const orders = [[...routes].reverse(), [...routes.slice(middle), ...routes.slice(0, middle)]]
  return [
    ...openReferences(snapshot),
    ...differences('Repeatable', content, contentOf(snapshotOf([...routes]))),
    ...orders.flatMap((order) => differences('OrderFree', content, contentOf(snapshotOf(order)))),
    ...terminatingIn(snapshot, routes),
  ]
}

/**
 * The routes that are not served as they ask, and why: in conflict with an older one, wholly or in part, not
 * valid, or of a data plane that is not there. Routes that are being deleted are left out.
 */
export const refusedRoutes = (
  routes: ReadonlyArray<EdgeRoute>,
  context?: Context,
): ReadonlyArray<Violation> =>
  [...translate(routes, context).verdicts.values()]
    .filter(({ accepted: { _tag } }) => _tag !== 'Accepted' && _tag !== 'Terminating')
    .map((verdict) => ({
      law: 'NothingRefused',
      message: `${showKey(verdict.key)}: ${showVerdict(verdict)}`,
    }))

const showRef = ({ typeUrl, name }: Ref): string => `${showTypeUrl(typeUrl)} ${name}`

/** Lines of text that are the same exactly where two snapshots are: each names one thing. */
type Content = ReadonlyMap<string, string>

const contentOf = ({ dataPlanes }: Snapshot): Content =>
  new Map([...dataPlanes].flatMap(([name, view]) => viewContent(name, view)))

const viewContent = (dataPlane: string, view: View): ReadonlyArray<readonly [string, string]> =>
  typeUrls.flatMap((typeUrl) => [
    [`${dataPlane}: the version of all ${showTypeUrl(typeUrl)}`, versionOf(view[typeUrl])] as const,
    ...[...PM.entries(view[typeUrl])].map(({ name, version, content, refs, owners }) => {
      const bytes = Buffer.from(encodeContent(content)).toString('hex')
      const text = JSON.stringify([version, bytes, refs, owners])
      return [`${dataPlane}: ${showRef({ typeUrl, name })}`, text] as const
    }),
  ])

const differences = (
  law: 'Repeatable' | 'OrderFree',
  before: Content,
  after: Content,
): ReadonlyArray<Violation> =>
  [...new Set([...before.keys(), ...after.keys()])]
    .filter((what) => before.get(what) !== after.get(what))
    .map((what) => ({
      law,
      message: `${what} differs ${law === 'OrderFree' ? 'in another order' : 'the second time'}`,
    }))

const terminatingIn = (
  { dataPlanes }: Snapshot,
  routes: ReadonlyArray<EdgeRoute>,
): ReadonlyArray<Violation> => {
  const leaving = new Map(
    routes
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata }) => [metadata.uid, showKey(metadata)]),
  )
  return [...dataPlanes].flatMap(([dataPlane, view]) =>
    typeUrls.flatMap((typeUrl) =>
      [...PM.entries(view[typeUrl])].flatMap(({ name, owners }) =>
        owners
          .filter((owner) => leaving.has(owner))
          .map((owner) => ({
            law: 'NothingTerminating',
            message: `${dataPlane}: ${showRef({ typeUrl, name })} has a part of ${leaving.get(owner) ?? owner}`,
          })),
      ),
    ),
  )
}
