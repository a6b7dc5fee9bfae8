import { type Condition, conditionTypes } from '../../../core/status.js'
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
    conditions: ownConditions(objectIn(object, 'status').conditions),
  }
}

const textsIn = (value: unknown): ReadonlyArray<string> =>
  isList(value) ? value.filter((item) => typeof item === 'string') : []

/** Those that are ours, and are whole. */
const ownConditions = (conditions: unknown): ReadonlyArray<Condition> =>
  isList(conditions) ? conditions.filter(isOwnCondition).map(bare) : []

const isOwnCondition = (condition: unknown): condition is Condition =>
  isObject(condition) &&
  conditionTypes.some((type) => type === condition.type) &&
  (condition.status === 'True' || condition.status === 'False') &&
  typeof condition.reason === 'string' &&
  typeof condition.message === 'string' &&
  typeof condition.observedGeneration === 'number' &&
  typeof condition.lastTransitionTime === 'string'

const bare = (condition: Condition): Condition => {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = condition
  return { type, status, reason, message, observedGeneration, lastTransitionTime }
}
