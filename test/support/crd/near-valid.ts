import fc from 'fast-check'
import { edgeRouteSpec, invalidRoute } from '../arbitraries.js'

type Json = unknown

/** What somebody may write in any place: of the right kind and wrong, or of another kind. */
const oddities: ReadonlyArray<Json> = [
  '',
  ' ',
  'a',
  'A.example',
  '*',
  '*.',
  'x_y',
  'x'.repeat(300),
  '/',
  '//',
  '/a/../b',
  '/%zz',
  '/a?b',
  'é',
  '0s',
  '1h1h',
  '-1s',
  'GET',
  'get',
  -1,
  0,
  1,
  1.5,
  303,
  70_000,
  true,
  [],
  {},
]

/** Names of fields, some of which are somewhere a field. */
const fields = [
  'path',
  'prefix',
  'exact',
  'regex',
  'present',
  'redirect',
  'respond',
  'backends',
  'weight',
  'rewrite',
]

interface Change {
  readonly at: number
  readonly how: 'Replace' | 'Remove' | 'Double' | 'Add'
  readonly oddity: Json
  readonly field: string
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1_000),
  how: fc.constantFrom('Replace', 'Replace', 'Remove', 'Double', 'Add'),
  oddity: fc.constantFrom(...oddities),
  field: fc.constantFrom(...fields),
})

const asJson = (spec: unknown): Json => JSON.parse(JSON.stringify(spec))

/**
 * Specs that are valid, or were before something in them was changed, as JSON. There is no null in them: an API server
 * reads one as if the field were absent, where that has a default.
 */
export const nearValidSpec: fc.Arbitrary<Json> = fc
  .oneof(
    edgeRouteSpec.map(asJson),
    invalidRoute.map(({ spec }) => asJson(spec)),
    fc
      .tuple(edgeRouteSpec, fc.array(change, { minLength: 1, maxLength: 2 }))
      .map(([spec, changes]) => changes.reduce(apply, asJson(spec))),
  )
  .filter((spec) => !hasNull(spec))

const hasNull = (value: Json): boolean =>
  value === null ||
  (typeof value === 'object' && Object.values(value).some((part) => hasNull(part)))

const isRecord = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Counts the places of a value, itself included. */
const sizeOf = (value: Json): number => {
  const parts = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 1)
}

const apply = (spec: Json, { at, ...rest }: Change): Json => changed(spec, at % sizeOf(spec), rest)

/** The value with its `at`th place changed, counted from the outside. */
const changed = (value: Json, at: number, how: Omit<Change, 'at'>): Json => {
  if (at === 0) return changedHere(value, how)
  const walk = (
    parts: ReadonlyArray<readonly [string, Json]>,
  ): ReadonlyArray<readonly [string, Json]> => {
    let left = at - 1
    return parts.flatMap(([name, part]) => {
      const size = sizeOf(part)
      const isHere = left >= 0 && left < size
      const place = left
      left -= size
      if (!isHere) return [[name, part] as const]
      if (place > 0) return [[name, changed(part, place, how)] as const]
      if (how.how === 'Remove') return []
      if (how.how === 'Double') return [[name, part] as const, [`${name}2`, part] as const]
      return [[name, changedHere(part, how)] as const]
    })
  }
  if (Array.isArray(value))
    return walk(value.map((part: Json, index) => [String(index), part] as const)).map(
      ([, part]) => part,
    )
  return isRecord(value) ? Object.fromEntries(walk(Object.entries(value))) : value
}

const changedHere = (value: Json, { how, oddity, field }: Omit<Change, 'at'>): Json =>
  how === 'Add' && isRecord(value) ? { ...value, [field]: oddity } : oddity
