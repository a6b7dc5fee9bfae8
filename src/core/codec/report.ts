import type * as t from 'io-ts'
import type { FieldError } from '../field-error.js'
import { isList, isObject } from './record.js'
import { show } from './show.js'

/** Where an error is: the keys that lead to it, and what stands on the way. */
export interface Located {
  readonly steps: ReadonlyArray<Step>
  readonly message: string
}

export interface Step {
  /** The object or list that the key is looked up in; undefined at the root. */
  readonly parent: unknown
  readonly key: string
}

/** An io-ts error in words. */
export const locate = ({ context, value, message }: t.ValidationError): Located => {
  const steps = context.map(({ key }, depth) => ({ parent: context[depth - 1]?.actual, key }))
  const expected = context[context.length - 1]?.type.name ?? 'something else'
  return { steps, message: message ?? `must be ${expected}, not ${show(value)}` }
}

/**
 * Errors as fields and messages, in the order in which the fields stand in the document.
 *
 * At most `limit` of them, and then one that says so. Costs one pass over each object on the
 * way to an error, and a sort of the errors.
 */
export const report = (
  errors: ReadonlyArray<Located>,
  limit: number,
): ReadonlyArray<FieldError> => {
  const placeOf = places()
  const ordered = errors
    .map((error) => ({ error, place: error.steps.map(placeOf) }))
    .sort((a, b) => comparePlaces(a.place, b.place))
    .map(({ error }) => ({ path: showSteps(error.steps), message: error.message }))
  if (ordered.length <= limit) return ordered
  return [
    ...ordered.slice(0, limit),
    { path: '', message: `there are more: only the first ${limit} are listed` },
  ]
}

/** As in `spec.matches[0].path.prefix`. */
const showSteps = (steps: ReadonlyArray<Step>): string =>
  steps.map(showStep).join('').replace(/^\./, '')

const showStep = ({ parent, key }: Step): string => {
  if (parent === undefined && key === '') return ''
  if (isList(parent)) return `[${key}]`
  return /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `[${show(key)}]`
}

/** Looks up the place of a key in its object; a field that is absent comes after those that are there. */
const places = (): ((step: Step) => number) => {
  const known = new Map<object, ReadonlyMap<string, number>>()
  return ({ parent, key }) => {
    if (isList(parent)) return Number(key)
    if (!isObject(parent)) return 0
    const order = known.get(parent) ?? new Map(Object.keys(parent).map((name, at) => [name, at]))
    known.set(parent, order)
    return order.get(key) ?? order.size
  }
}

const comparePlaces = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
