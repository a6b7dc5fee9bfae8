import { type OwnConditions, ownConditionsIn } from '../../../core/own-conditions.js'
import { type Condition, type ConditionType, isConditionType } from '../../../core/status.js'
import { isJsonObject, isList } from './json.js'

/** Those of our types in a status. */
export const ownConditions = (status: unknown): OwnConditions =>
  ownConditionsIn(conditionsIn(status))

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
