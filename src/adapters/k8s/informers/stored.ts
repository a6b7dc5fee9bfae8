import { type Condition, isConditionType } from '../../../core/status.js'
import type { StoredObject } from '../../../core/stored-object.js'
import { isList, isObject, type JsonObject, objectIn, textIn } from '../reflector/index.js'

/** The bookkeeping of an object, out of its JSON. */
export const storedOf = (object: JsonObject): StoredObject => {
  const metadata = objectIn(object, 'metadata')
  const { generation } = metadata
  const deletionTimestamp = textIn(metadata, 'deletionTimestamp')
  const dataPlane = textIn(objectIn(object, 'spec'), 'dataPlane')
  return {
    key: { namespace: textIn(metadata, 'namespace') ?? '', name: textIn(metadata, 'name') ?? '' },
    uid: textIn(metadata, 'uid') ?? '',
    generation: typeof generation === 'number' ? generation : 0,
    ...(dataPlane !== undefined && { dataPlane }),
    resourceVersion: textIn(metadata, 'resourceVersion') ?? '',
    finalizers: textsIn(metadata.finalizers),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...ownConditions(objectIn(object, 'status').conditions),
  }
}

const textsIn = (value: unknown): ReadonlyArray<string> =>
  isList(value) ? value.filter((item) => typeof item === 'string') : []

type OwnConditions = Pick<StoredObject, 'conditions' | 'hasForeignConditions'>

/** Those of our types that are whole; the others are noted only. */
const ownConditions = (conditions: unknown): OwnConditions => {
  const own = isList(conditions) ? conditions.filter(isObject).filter(isOfOwnType) : []
  const whole = own.filter(isWhole).map(bare)
  return {
    conditions: whole,
    ...(whole.length < own.length && { hasForeignConditions: true }),
  }
}

const isOfOwnType = ({ type }: JsonObject): boolean => isConditionType(type)

const isWhole = (condition: JsonObject): condition is JsonObject & Condition =>
  (condition.status === 'True' || condition.status === 'False') &&
  typeof condition.reason === 'string' &&
  typeof condition.message === 'string' &&
  typeof condition.observedGeneration === 'number' &&
  typeof condition.lastTransitionTime === 'string'

const bare = (condition: Condition): Condition => {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = condition
  return { type, status, reason, message, observedGeneration, lastTransitionTime }
}
