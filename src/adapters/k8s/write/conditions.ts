import { apiVersion, kind } from '../../../core/edge-route.js'
import { maxConditions } from '../../../core/crd/status.js'
import { type Condition, isConditionType } from '../../../core/status.js'
import type { StoredObject } from '../../../core/stored-object.js'
import { isList, isObject, objectIn, textIn } from '../informers/index.js'
import { indicesOf, patchOf, type PatchOperation, readOf, type WriteRequest } from './requests.js'
import type { WriteStep } from './writer.js'

/**
 * Makes these our conditions; `undefined` if they are said already.
 *
 * Those that `fieldManager` has applied before, and that are not among them, go. Those that somebody else has, out of a
 * backup, say, stay when ours are applied, and are then taken off by a patch. So are all of ours where there are to be
 * none: applied, that is refused, since the server then makes `null` of a list that others began.
 *
 * Where somebody else has written a condition that we had applied, each has a part of it: what is left of it once we no
 * longer name it is no whole condition, and the server refuses that (422). It is then taken off by a patch first. All
 * of this was seen in 1.37.
 *
 * Cost: one request as a rule, six at worst.
 */
export const conditionsWriteOf = (
  object: StoredObject,
  conditions: ReadonlyArray<Condition>,
  fieldManager: string,
): WriteStep | undefined => {
  if (isSaid(object, conditions)) return undefined
  if (conditions.length === 0)
    return {
      object,
      request: readOf(object),
      then: (body) => removalOf(object, removals(body, []), fieldManager),
    }
  const removalAfter = (body: unknown): WriteStep | undefined => {
    const left = removals(body, conditions)
    return left.length === 0 ? undefined : removalOf(inFormOf(body, object), left, fieldManager)
  }
  const application = (over: StoredObject): WriteStep => ({
    object: over,
    request: applyOf(over, conditions, fieldManager),
    then: removalAfter,
  })
  return {
    ...application(object),
    advise: (body) => crowdedBy(body, conditions.length),
    orElse: (body) => {
      const removal = removalAfter(body)
      return removal && { ...removal, then: (after) => application(inFormOf(after, object)) }
    },
  }
}

/** Why a status has no room for so many conditions of ours; `undefined` if it has. */
const crowdedBy = (body: unknown, wanted: number): string | undefined => {
  const { conditions } = objectIn(body, 'status')
  const others = isList(conditions) ? conditions.filter((each) => !isOfOurs(each)).length : 0
  return others + wanted > maxConditions
    ? `the status has ${others} conditions of others, and room for ${maxConditions} in all; take some off`
    : undefined
}

const isOfOurs = (condition: unknown): boolean =>
  isObject(condition) && isConditionType(condition.type)

const removalOf = (
  object: StoredObject,
  left: ReadonlyArray<PatchOperation>,
  fieldManager: string,
): WriteStep => ({ object, request: patchOf(object, '/status', fieldManager, left) })

/** The same object, in the version of `body`. */
const inFormOf = (body: unknown, object: StoredObject): StoredObject => ({
  ...object,
  resourceVersion: textIn(objectIn(body, 'metadata'), 'resourceVersion') ?? object.resourceVersion,
})

/**
 * What guards it is the resource version, which no other object under that name ever has: the uid, which the server
 * looks at elsewhere, it does not look at when a status is applied (seen in 1.37).
 */
const applyOf = (
  object: StoredObject,
  conditions: ReadonlyArray<Condition>,
  fieldManager: string,
): WriteRequest => {
  const { key, uid, resourceVersion } = object
  const metadata = { ...key, uid, resourceVersion }
  return {
    method: 'PATCH',
    path: `${readOf(object).path}/status`,
    query: { fieldManager, force: 'true' },
    // JSON is YAML, too.
    contentType: 'application/apply-patch+yaml',
    body: { apiVersion, kind, metadata, status: { conditions } },
  }
}

/** Takes the conditions of our types that are not wanted off an object, as it is in `body`. */
const removals = (
  body: unknown,
  wanted: ReadonlyArray<Condition>,
): ReadonlyArray<PatchOperation> => {
  const { conditions } = objectIn(body, 'status')
  if (!isList(conditions)) return []
  const types = conditions.map((each) => (isObject(each) ? each.type : undefined))
  const isUnwanted = (type: unknown): boolean =>
    isConditionType(type) && wanted.every((each) => each.type !== type)
  return indicesOf(types, isUnwanted).flatMap((index): ReadonlyArray<PatchOperation> => {
    const path = `/status/conditions/${index}`
    return [
      { op: 'test', path: `${path}/type`, value: types[index] },
      { op: 'remove', path },
    ]
  })
}

const isSaid = (
  { conditions, hasForeignConditions }: StoredObject,
  wanted: ReadonlyArray<Condition>,
): boolean =>
  hasForeignConditions !== true &&
  conditions.length === wanted.length &&
  wanted.every((each) => conditions.some((said) => isSame(said, each)))

const isSame = (a: Condition, b: Condition): boolean =>
  a.type === b.type &&
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration &&
  a.lastTransitionTime === b.lastTransitionTime
