import type { Match, ValueMatch } from '../edge-route.js'
import { checkPathRegex, checkRegex } from '../regex.js'
import { expandMatch, matchKey } from './canonical.js'
import { checkPath } from './check/path.js'
import {
  checkHeaderMatch,
  checkMatchedHeader,
  checkMethod,
  checkQueryMatch,
  checkQueryName,
} from './check/values.js'
import { literals, text } from './leaves.js'
import { exactly } from './exactly.js'
import { maxMatches, maxMethods, maxPredicates } from './limits.js'
import { type Codec, type Issue, list, record, where } from './record.js'
import { exactlyOne, lowerCase, unique } from './rules.js'

const path = record(
  'an object with prefix, exact or regex',
  {},
  { prefix: text(checkPath), exact: text(checkPath), regex: text(checkPathRegex) },
  [exactlyOne('prefix', 'exact', 'regex')],
)

type Check = (value: string) => string | undefined

const predicate = (checkName: Check, checkValue: Check): Codec<ValueMatch> => {
  const value = text(checkValue)
  const codec = record(
    'an object with name, and exact, prefix, regex or present',
    { name: text(checkName) },
    { exact: value, prefix: value, regex: text(checkRegex), present: literals<true>(true) },
    [exactlyOne('exact', 'prefix', 'regex', 'present')],
  )
  return exactly<ValueMatch>()(codec)
}

const headers = where(
  list(predicate(checkMatchedHeader, checkHeaderMatch), {
    min: 0,
    max: maxPredicates,
    of: 'headers',
  }),
  unique('header', ({ name }) => lowerCase(name), ['name']),
)

const query = where(
  list(predicate(checkQueryName, checkQueryMatch), {
    min: 0,
    max: maxPredicates,
    of: 'parameters',
  }),
  unique('parameter', ({ name }) => name, ['name']),
)

const methods = where(
  list(text(checkMethod), { min: 1, max: maxMethods, of: 'methods' }),
  unique('method', (method) => method),
)

const match = record(
  'an object with path, methods, headers and query',
  {},
  { path, methods, headers, query },
)

const sameClaim = (all: ReadonlyArray<Match>): ReadonlyArray<Issue> => {
  const first = new Map<string, number>()
  const issues: Array<Issue> = []
  for (const [index, item] of all.entries()) {
    const keys = expandMatch(item).map((claim) => matchKey(claim))
    const other = keys.map((key) => first.get(key)).find((found) => found !== undefined)
    if (other !== undefined)
      issues.push({
        keys: [index],
        message: `says the same as spec.matches[${other}], which comes first: leave one out`,
      })
    for (const key of keys) if (!first.has(key)) first.set(key, index)
  }
  return issues
}

/** The matches of a route; no two of them may claim the same. */
export const matches: Codec<ReadonlyArray<Match>> = where(
  list(exactly<Match>()(match), { min: 1, max: maxMatches, of: 'matches' }),
  sameClaim,
)
