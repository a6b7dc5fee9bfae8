import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute } from '../../../core/codec.js'
import { type EdgeRoute, showKey } from '../../../core/edge-route.js'
import { compareStrings } from '../../../core/order.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { SourceProblem, SourceState } from '../../../ports/route-source.js'
import type { ApiObject } from './api-object.js'
import { ownConditions } from './conditions.js'
import { isJsonObject, isSameJson } from './json.js'

/** What the objects of a server are to those who serve routes. */
export interface SourceView {
  /** By uid. */
  readonly seen: ReadonlyMap<string, Seen>
  readonly state: SourceState
}

/** One object, read. */
interface Seen {
  readonly from: ApiObject
  readonly stored: StoredObject
  /** Its last form that was valid, with the metadata that it has now. */
  readonly route: EdgeRoute | undefined
  readonly problem: SourceProblem | undefined
}

export const emptyView: SourceView = {
  seen: new Map(),
  state: { routes: [], objects: [], problems: [] },
}

/**
 * Reads objects, given in the order of their names; of what has not changed since `before`, the parts are the
 * same ones.
 *
 * A spec that is invalid keeps the last valid form of that uid, under the generation which had it; a name whose
 * object was made anew has none. Unknown fields are no fault. Costs O(n), and decodes what has changed.
 */
export const viewOf = (before: SourceView, objects: Iterable<ApiObject>): SourceView => {
  const seen = new Map<string, Seen>()
  for (const object of objects) {
    const { uid } = object.metadata
    const known = before.seen.get(uid)
    seen.set(uid, known?.from === object ? known : see(object, known))
  }
  const all = [...seen.values()]
  const state: SourceState = {
    routes: all.flatMap(({ route }) => route ?? []),
    objects: all.map(({ stored }) => stored),
    problems: all
      .flatMap(({ problem }) => problem ?? [])
      .sort((a, b) => compareStrings(a.where, b.where)),
  }
  return { seen, state }
}

const see = (object: ApiObject, known: Seen | undefined): Seen => {
  const { namespace, name } = object.metadata
  const decoded = decodeEdgeRoute(object, { unknownFields: 'warn' })
  const seen = { from: object, stored: storedOf(object) }
  if (E.isRight(decoded))
    return { ...seen, route: unchanged(decoded.right.route, known?.route), problem: undefined }
  const key = { namespace, name }
  const route = known?.route && unchanged(withMetadata(known.route, object), known.route)
  const keepsLastGood = route !== undefined
  return {
    ...seen,
    route,
    problem: { where: showKey(key), key, errors: decoded.left, keepsLastGood },
  }
}

const unchanged = (route: EdgeRoute, before: EdgeRoute | undefined): EdgeRoute =>
  before !== undefined && isSameJson(before, route) ? before : route

/** An invalid spec does not keep an object from being deleted. */
const withMetadata = (route: EdgeRoute, { metadata }: ApiObject): EdgeRoute => ({
  ...route,
  metadata: {
    ...route.metadata,
    ...(metadata.deletionTimestamp !== undefined && {
      deletionTimestamp: metadata.deletionTimestamp,
    }),
    finalizers: metadata.finalizers ?? [],
  },
})

const storedOf = (object: ApiObject): StoredObject => {
  const { namespace, name, uid, generation, resourceVersion } = object.metadata
  const { deletionTimestamp, finalizers = [] } = object.metadata
  const dataPlane = isJsonObject(object.spec) ? object.spec.dataPlane : undefined
  return {
    key: { namespace, name },
    uid,
    generation,
    ...(typeof dataPlane === 'string' && { dataPlane }),
    resourceVersion,
    finalizers,
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...ownConditions(object.status),
  }
}
