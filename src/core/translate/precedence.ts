import type { Digest } from '../digest.js'
import { compareStrings } from '../order.js'
import { showKey } from '../edge-route.js'
import type { Owner, Rule, RuleMatch } from '../rule.js'

/**
 * The order in which objects get what several of them claim, as text to be compared by code units: the older one,
 * then the lesser `namespace/name`, then the lesser uid. An object without an age counts as the youngest.
 */
export const seniorityOf = (owner: Owner): string =>
  `${ageKey(owner.createdAtMs)} ${showKey(owner.key)} ${owner.uid}`

/** Sorts rules, senior objects first; the rules of one object stay in their order. */
export const bySeniority = (rules: ReadonlyArray<Rule>): ReadonlyArray<Rule> =>
  rules
    .map((rule) => ({ rule, key: seniorityOf(rule.owner) }))
    .sort((a, b) => compareStrings(a.key, b.key))
    .map(({ rule }) => rule)

/**
 * The place of a match among all matches of its host: Envoy takes the first that fits, so the keys'
 * order, by code units, is the precedence of the routes.
 *
 * Exact paths come first, then prefixes, the longest first, then regular expressions; then matches with a
 * method, with more headers, with more query parameters; then the senior object (Gateway API,
 * HTTPRouteRule "matches"). `seniority` is that of its object, the rest keeps the order total.
 */
export const sortKey = (match: RuleMatch, seniority: string, claim: Digest): string =>
  [
    pathRank(match),
    match.method === undefined ? '1' : '0',
    descending(match.headers.length),
    descending(match.query.length),
    seniority,
    match.method ?? '',
    match.path.value,
    claim,
  ].join(' ')

const pathRank = ({ path }: RuleMatch): string => {
  switch (path._tag) {
    case 'Exact':
      return '0'
    case 'Prefix':
      return `1${descending(path.value.length)}`
    case 'Regex':
      return '2'
  }
}

/** Moves the year 0 above zero, so that every date has as many digits. */
const epochShiftMs = 1e14
const ageDigits = 16

const ageKey = (createdAtMs: number): string =>
  Number.isFinite(createdAtMs)
    ? String(createdAtMs + epochShiftMs).padStart(ageDigits, '0')
    : '9'.repeat(ageDigits)

/** More than any count or path length that the codec lets through. */
const highest = 99_999

const descending = (count: number): string => String(highest - count).padStart(5, '0')
