import { type Document, isCollection, isPair, isScalar, type LineCounter, visit } from 'yaml'
import type { FieldError } from '../../core/field-error.js'

type Segment = string | number

/**
 * The first few keys, to `limit`, that stand twice in one mapping; `1` and `"1"` are the same
 * field.
 *
 * The library can check this too, but in quadratic time: a mebibyte of short keys takes it minutes.
 */
export const repeatedKeys = (
  document: Document,
  lines: LineCounter,
  limit: number,
): ReadonlyArray<FieldError> => {
  const errors: Array<FieldError> = []
  visit(document, {
    Map: (_, map, ancestors) => {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const name = nameOf(key)
        if (name === undefined) continue
        if (seen.has(name) && isScalar(key)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0)
          const path = showPath([...segmentsTo(map, ancestors), name])
          errors.push({ path, message: `is there twice; keep one of them (line ${line})` })
        }
        if (errors.length >= limit) return visit.BREAK
        seen.add(name)
      }
      return undefined
    },
  })
  return errors
}

/**
 * True if a document has more aliases than `limit`.
 *
 * The library bounds what each anchor expands to, but looks through all anchors for each alias.
 */
export const hasMoreAliases = (document: Document, limit: number): boolean => {
  let aliases = 0
  visit(document, {
    Alias: () => {
      aliases += 1
      return aliases > limit ? visit.BREAK : undefined
    },
  })
  return aliases > limit
}

/** The name of the field that a key stands for; none for keys that are lists or objects. */
export const nameOf = (key: unknown): string | undefined =>
  isScalar(key) ? String(key.value) : undefined

/** The way from the root to a node whose ancestors are these. */
const segmentsTo = (node: unknown, ancestors: ReadonlyArray<unknown>): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  for (const [i, at] of ancestors.entries()) {
    if (isPair(at)) segments.push(nameOf(at.key) ?? '?')
    else if (isCollection(at)) {
      const child = ancestors[i + 1] ?? node
      if (!isPair(child)) segments.push((at.items as ReadonlyArray<unknown>).indexOf(child))
    }
  }
  return segments
}

/** The field at which a value contains itself, if it does so anywhere. */
export const cycleIn = (root: unknown): string | undefined => {
  const open = new Set<object>()
  const done = new Set<object>()
  const search = (value: unknown): ReadonlyArray<Segment> | undefined => {
    if (typeof value !== 'object' || value === null || done.has(value)) return undefined
    if (open.has(value)) return []
    open.add(value)
    const children: Iterable<readonly [Segment, unknown]> = Array.isArray(value)
      ? value.entries()
      : Object.entries(value)
    for (const [segment, child] of children) {
      const found = search(child)
      if (found !== undefined) return [segment, ...found]
    }
    open.delete(value)
    done.add(value)
    return undefined
  }
  const found = search(root)
  return found && showPath(found)
}

/** As in `spec.matches[0].path`. */
const showPath = (path: ReadonlyArray<Segment>): string =>
  path
    .map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`))
    .join('')
    .replace(/^\./, '')

/** The parts of a field's path; a part that is no plain name stands in it as a JSON string. */
export const splitPath = (path: string): ReadonlyArray<string> =>
  [...path.matchAll(/"(?:[^"\\]|\\.)*"|[^.[\]"]+/g)].map(([part]) =>
    part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/g, '$1') : part,
  )
