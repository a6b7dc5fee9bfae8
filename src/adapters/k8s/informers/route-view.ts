import { isDeepStrictEqual } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { decodeEdgeRoute } from '../../../core/codec.js'
import { apiVersion, type EdgeRoute, kind } from '../../../core/edge-route.js'
import type { FieldError } from '../../../core/field-error.js'
import { compareStrings } from '../../../core/order.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { SourceProblem, SourceState } from '../../../ports/route-source.js'
import type { Change, JsonObject, Reflected } from '../reflector/index.js'
import type { InformerTrouble } from './informer.js'
import { storedOf } from './stored.js'

/** What an object is to those who serve routes. */
export interface SeenRoute {
  readonly stored: StoredObject
  /** The last form that was valid, with the metadata that it has now. */
  readonly route: EdgeRoute | undefined
  readonly problem: SourceProblem | undefined
  /** Fields that are ignored. */
  readonly warnings: ReadonlyArray<FieldError>
}

/**
 * Reads an object of kind EdgeRoute; `before` is what the same object, by its uid, was.
 *
 * A spec that is invalid keeps the last valid form, under the generation which had it. A route that has not changed
 * stays the same object. Unknown fields are ignored: a downgrade of the control plane must not drop routes. Never
 * throws.
 */
export const seeRoute = (object: JsonObject, before: SeenRoute | undefined): SeenRoute => {
  const stored = storedOf(object)
  // Items of a list need not say what they are.
  const decoded = decodeEdgeRoute({ apiVersion, kind, ...object }, { unknownFields: 'warn' })
  if (E.isRight(decoded)) {
    const { route, warnings } = decoded.right
    return { stored, route: unchanged(route, before?.route), problem: undefined, warnings }
  }
  const route = before?.route && unchanged(withMetadata(before.route, stored), before.route)
  const { namespace, name } = stored.key
  const problem = {
    where: `${namespace}/${name}`,
    key: stored.key,
    errors: decoded.left,
    keepsLastGood: route !== undefined,
  }
  return { stored, route, problem, warnings: [] }
}

const unchanged = (route: EdgeRoute, before: EdgeRoute | undefined): EdgeRoute =>
  before !== undefined && isDeepStrictEqual(before, route) ? before : route

/** An invalid spec does not keep an object from being deleted. */
const withMetadata = (
  route: EdgeRoute,
  { deletionTimestamp, finalizers }: StoredObject,
): EdgeRoute => ({
  ...route,
  metadata: {
    ...route.metadata,
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    finalizers,
  },
})

/** The fields that are ignored since this change; none if its object had the very same ones before. */
export const newWarnings = (change: Change<SeenRoute>): ReadonlyArray<FieldError> => {
  const { warnings } = change.object.value
  switch (change._tag) {
    case 'Added':
      return warnings
    case 'Modified':
      return isDeepStrictEqual(change.before.value.warnings, warnings) ? [] : warnings
    case 'Deleted':
      return []
  }
}

/**
 * The whole state; objects come in the order of their names. What the server cannot be asked for at the moment is
 * a problem too, whose last good state is kept. Costs O(n).
 */
export const stateOf = (
  seen: Iterable<Reflected<SeenRoute>>,
  troubles: ReadonlyArray<InformerTrouble>,
): SourceState => {
  const routes: Array<EdgeRoute> = []
  const objects: Array<StoredObject> = []
  const problems: Array<SourceProblem> = troubles.map(({ where, message }) => ({
    where,
    key: undefined,
    errors: [{ path: '', message }],
    keepsLastGood: true,
  }))
  for (const { value } of seen) {
    objects.push(value.stored)
    if (value.route !== undefined) routes.push(value.route)
    if (value.problem !== undefined) problems.push(value.problem)
  }
  return { routes, objects, problems: problems.sort((a, b) => compareStrings(a.where, b.where)) }
}
