import { either as oneOf, show } from './show.js'
import type { Issue, PresenceRule } from './record.js'

/** One of these fields must be there, and no two. */
export const exactlyOne =
  (...fields: ReadonlyArray<string>): PresenceRule =>
  (isPresent) => {
    const there = fields.filter(isPresent)
    if (there.length === 1) return []
    return there.length === 0
      ? [{ message: `must have one of ${oneOf(fields)}` }]
      : [{ message: `has ${there.join(' and ')}: keep only one of ${oneOf(fields)}` }]
  }

/** One of these fields must be there, or more. */
export const atLeastOne =
  (...fields: ReadonlyArray<string>): PresenceRule =>
  (isPresent) =>
    fields.some(isPresent) ? [] : [{ message: `must have ${oneOf(fields)}` }]

/** These fields say nothing where `field` is not. */
export const onlyWith =
  (field: string, dependents: ReadonlyArray<string>): PresenceRule =>
  (isPresent) =>
    isPresent(field)
      ? []
      : dependents
          .filter(isPresent)
          .map((name) => ({ keys: [name], message: `goes only with ${field}: leave it out` }))

/** Every item must have a key of its own; `of` says what the key is, in the singular. */
export const unique =
  <A>(of: string, keyOf: (item: A) => string, at: ReadonlyArray<string> = []) =>
  (items: ReadonlyArray<A>): ReadonlyArray<Issue> => {
    const first = new Map<string, number>()
    const issues: Array<Issue> = []
    for (const [index, item] of items.entries()) {
      const key = keyOf(item)
      const other = first.get(key)
      if (other === undefined) first.set(key, index)
      else
        issues.push({
          keys: [index, ...at],
          message: `repeats the ${of} ${show(key)} of item ${other}: leave one out`,
        })
    }
    return issues
  }

export const lowerCase = (name: string): string => name.toLowerCase()
