import fc from 'fast-check'
import type { Match, PathMatch, ValueMatch } from '../../core/edge-route.js'
import { allOptional, plain } from './plain.js'

// Small alphabets on purpose: routes must collide, or nearly collide, often.

export const hostnames: fc.Arbitrary<ReadonlyArray<string>> = fc.uniqueArray(
  fc.constantFrom('a.test', 'b.test', '*.test'),
  { minLength: 1, maxLength: 2 },
)

const literalPaths = ['/', '/a', '/a/', '/a/b', '/ab', '/a%2Fb'] as const

const pathMatch: fc.Arbitrary<PathMatch> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ prefix: fc.constantFrom(...literalPaths) }, plain) },
  { weight: 3, arbitrary: fc.record({ exact: fc.constantFrom(...literalPaths) }, plain) },
  { weight: 1, arbitrary: fc.record({ regex: fc.constantFrom('/a.*', '/[ab]+', '.*') }, plain) },
)

const predicates = (names: ReadonlyArray<string>): fc.Arbitrary<ReadonlyArray<ValueMatch>> => {
  const name = fc.constantFrom(...names)
  const value = fc.constantFrom('1', '12', 'x')
  const predicate: fc.Arbitrary<ValueMatch> = fc.oneof(
    fc.record({ name, exact: value }, plain),
    fc.record({ name, prefix: value }, plain),
    fc.record({ name, regex: fc.constantFrom('[0-9]+', '1|x') }, plain),
    fc.record({ name, present: fc.constant<true>(true) }, plain),
  )
  return fc.uniqueArray(predicate, { maxLength: 2, selector: (one) => one.name.toLowerCase() })
}

const match: fc.Arbitrary<Match> = fc.record(
  {
    path: pathMatch,
    methods: fc.uniqueArray(fc.constantFrom('GET', 'POST', 'DELETE'), {
      minLength: 1,
      maxLength: 2,
    }),
    headers: predicates(['x-a', 'X-A', 'x-b']),
    query: predicates(['v', 'V']),
  },
  allOptional,
)

/** A claim of one match, in a form that is equal for equal claims. */
const claims = ({ path = { prefix: '/' }, methods = [''], headers = [], query = [] }: Match) => {
  const prefix = path.prefix === undefined || path.prefix === '/' ? path.prefix : trim(path.prefix)
  const where = [prefix ?? null, path.exact ?? null, path.regex ?? null]
  const named = (one: ValueMatch, name: string): string =>
    JSON.stringify([name, one.exact ?? null, one.prefix ?? null, one.regex ?? null])
  const headerParts = headers.map((one) => named(one, one.name.toLowerCase())).sort()
  const queryParts = query.map((one) => named(one, one.name)).sort()
  return methods.map((method) => JSON.stringify([where, method, headerParts, queryParts]))
}

const trim = (path: string): string => path.replace(/\/$/, '')

const overlap = (a: Match, b: Match): boolean => {
  const taken = new Set(claims(a))
  return claims(b).some((claim) => taken.has(claim))
}

/** The matches of one route: no two of them claim the same. */
export const matches: fc.Arbitrary<ReadonlyArray<Match>> = fc.uniqueArray(match, {
  minLength: 1,
  maxLength: 3,
  comparator: overlap,
})
