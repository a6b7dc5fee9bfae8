import { type Condition, isConditionType } from './status.js'
import type { StoredObject } from './stored-object.js'

/** What a `StoredObject` says of the conditions in a status. */
export type OwnConditions = Pick<StoredObject, 'conditions' | 'hasForeignConditions'>

/** Reads a list of conditions: those of our types that are whole, without what others have added to them. */
export const ownConditionsIn = (conditions: ReadonlyArray<unknown>): OwnConditions => {
  const ofOurTypes = conditions.filter(isFields).filter(({ type }) => isConditionType(type))
  const whole = ofOurTypes.filter(isWhole).map(bare)
  return {
    conditions: whole,
    ...(whole.length < ofOurTypes.length && { hasForeignConditions: true }),
  }
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

const isWhole = (condition: Fields): condition is Fields & Condition =>
  (condition.status === 'True' || condition.status === 'False') &&
  typeof condition.reason === 'string' &&
  typeof condition.message === 'string' &&
  typeof condition.observedGeneration === 'number' &&
  typeof condition.lastTransitionTime === 'string'

const bare = (condition: Condition): Condition => {
  const { type, status, reason, message, observedGeneration, lastTransitionTime } = condition
  return { type, status, reason, message, observedGeneration, lastTransitionTime }
}
