import { type Condition, type ConditionType, isConditionType } from '../../../core/status.js'
import { isJsonObject, isList } from './json.js'

/** The conditions in a status that are ours, and are whole. */
export const ownConditions = (status: unknown): ReadonlyArray<Condition> =>
  conditionsIn(status).filter(isCondition)

/**
 * All conditions of a status once these are the ones that we own: those of others stay as they are, where
 * they are; ours keep their places too, and new ones follow.
 */
export const withOwnConditions = (
  status: unknown,
  own: ReadonlyArray<Condition>,
): ReadonlyArray<unknown> => {
  const before = conditionsIn(status)
  const byType = new Map<string, Condition>(own.map((condition) => [condition.type, condition]))
  const kept = before.flatMap((condition) => {
    const type = typeOf(condition)
    if (type === undefined) return [condition]
    const next = byType.get(type)
    byType.delete(type)
    return next ?? []
  })
  return [...kept, ...byType.values()]
}

const conditionsIn = (status: unknown): ReadonlyArray<unknown> => {
  const conditions = isJsonObject(status) ? status.conditions : undefined
  return isList(conditions) ? conditions : []
}

/** Which of our types a condition has. */
const typeOf = (condition: unknown): ConditionType | undefined =>
  isJsonObject(condition) && isConditionType(condition.type) ? condition.type : undefined

const isCondition = (condition: unknown): condition is Condition =>
  isJsonObject(condition) &&
  typeOf(condition) !== undefined &&
  (condition.status === 'True' || condition.status === 'False') &&
  typeof condition.reason === 'string' &&
  typeof condition.message === 'string' &&
  typeof condition.observedGeneration === 'number' &&
  typeof condition.lastTransitionTime === 'string'
