import { isList, isObject, type Shape } from './record.js'
import type { Located, Step } from './report.js'
import { either, nearest, show } from './show.js'

/**
 * Finds the fields of a value that its codec does not know, to `limit` of them.
 *
 * Goes only where the codec goes, so a value with cycles ends too.
 */
export const unknownFields = (
  value: unknown,
  shape: Shape,
  limit: number,
): ReadonlyArray<Located> => {
  const found: Array<Located> = []
  const walk = (actual: unknown, at: Shape, steps: ReadonlyArray<Step>): void => {
    if (found.length >= limit) return
    if (at._tag === 'List' && isList(actual)) {
      for (const [index, item] of actual.entries())
        walk(item, at.item, [...steps, { parent: actual, key: String(index) }])
    }
    if (at._tag === 'Record' && isObject(actual)) {
      for (const [key, inner] of Object.entries(actual)) {
        const field = at.fields.get(key)
        const next = [...steps, { parent: actual, key }]
        if (field !== undefined) walk(inner, field, next)
        else if (found.length < limit) found.push({ steps: next, message: hint(key, at.fields) })
      }
    }
  }
  walk(value, shape, [{ parent: undefined, key: '' }])
  return found
}

const hint = (key: string, fields: ReadonlyMap<string, Shape>): string => {
  if (key === 'true' && fields.has('on')) return trueForOn
  const known = [...fields.keys()]
  const meant = nearest(key, known)
  return meant === undefined
    ? `is not a field of this object: it has ${either(known)}`
    : `is not a field of this object: did you mean ${show(meant)}?`
}

/** As kubectl sends it, and every other program that reads YAML 1.1. */
const trueForOn =
  'is not a field of this object: YAML 1.1 reads a bare "on" as true, so write it in quotes, "on"'
