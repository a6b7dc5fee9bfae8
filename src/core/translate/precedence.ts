import { compareStrings } from '../order.js'
import { showKey } from '../edge-route.js'
import type { Owner, Rule, RuleMatch } from '../rule.js'

/**
 * Which of two objects keeps a claim that both make: the older one, then the lesser `namespace/name`, then
 * the lesser uid. An object without an age counts as the youngest.
 */
export const bySeniority = (a: Rule, b: Rule): number =>
  compareStrings(seniority(a.owner), seniority(b.owner))

/**
 * The place of a match among all matches of its host: Envoy takes the first that fits, so the keys'
 * order, by code units, is the precedence of the routes.
 *
 * Exact paths come first, then prefixes, the longest first, then regular expressions; then matches with a
 * method, with more headers, with more query parameters; then the senior object (Gateway API,
 * HTTPRouteRule "matches"). `claim` keeps the order total.
 */
export const sortKey = (match: RuleMatch, owner: Owner, claim: string): string =>
  [
    pathRank(match),
    match.method === undefined ? '1' : '0',
    descending(match.headers.length),
    descending(match.query.length),
    seniority(owner),
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

const seniority = (owner: Owner): string =>
  `${ageKey(owner.createdAtMs)} ${showKey(owner.key)} ${owner.uid}`

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
