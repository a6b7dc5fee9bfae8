import type { ValueMatch } from '../../../src/core/edge-route.js'
import type { Pair, Request } from './answer.js'
import { type Claim, isBefore, withoutSlash } from './claims.js'

/** The claims of the most specific host that matches; no other host is asked. */
export const ofTheHost = (claims: ReadonlyArray<Claim>, host: string): ReadonlyArray<Claim> => {
  const bare = host.toLowerCase().replace(/:\d+$/, '')
  const hosts = claims.map((claim) => claim.host).filter((pattern) => hostMatches(pattern, bare))
  const best = hosts.sort((a, b) => specificity(b) - specificity(a))[0]
  return claims.filter((claim) => claim.host === best)
}

const hostMatches = (pattern: string, host: string): boolean =>
  pattern === '*' ||
  pattern === host ||
  (pattern.startsWith('*.') && host.length >= pattern.length && host.endsWith(pattern.slice(1)))

/** A name is more than every pattern, a longer pattern more than a shorter one. */
const specificity = (host: string): number => (host.startsWith('*') ? host.length : Infinity)

/** True if a request asks for what is claimed, apart from the host. */
export const claimMatches = (claim: Claim, request: Request): boolean =>
  pathMatches(claim, normalised(request.path)) &&
  (claim.method === undefined || claim.method === request.method) &&
  claim.headers.every((one) => valueMatches(one, one.name.toLowerCase(), request.headers)) &&
  claim.query.every((one) => valueMatches(one, one.name, request.query))

const pathMatches = ({ path }: Claim, actual: string): boolean => {
  if (path.exact !== undefined) return actual === path.exact
  if (path.regex !== undefined) return whole(path.regex).test(actual)
  const prefix = withoutSlash(path.prefix ?? '/')
  return prefix === actual || actual.startsWith(`${prefix}/`)
}

const valueMatches = (want: ValueMatch, name: string, pairs: ReadonlyArray<Pair>): boolean => {
  const value = pairs.find(([given]) => given === name)?.[1]
  if (value === undefined) return false
  if (want.exact !== undefined) return value === want.exact
  if (want.prefix !== undefined) return value.startsWith(want.prefix)
  if (want.regex !== undefined) return whole(want.regex).test(value)
  return true
}

/** The regexes of these tests mean the same in RE2 and here. */
const whole = (regex: string): RegExp => new RegExp(`^(?:${regex})$`, 'su')

/**
 * A path as a route sees it: no dot segments, no double slashes, no needless escapes. (Of nothing but slashes
 * Envoy leaves two.)
 */
export const normalised = (path: string): string => {
  const plain = path.replace(/%(2[de]|[3-7][0-9a-f])/gi, (escape, code: string) => {
    const char = String.fromCharCode(parseInt(code, 16))
    return /[\w.~-]/.test(char) ? char : escape
  })
  const elements: Array<string> = []
  const all = plain.split('/').slice(1)
  for (const element of all) {
    if (element === '..') elements.pop()
    else if (element !== '.') elements.push(element)
  }
  if (['.', '..'].includes(all.at(-1) ?? '')) elements.push('')
  const bare = `/${elements.join('/')}`
  return /^\/\/+$/.test(bare) ? '//' : bare.replace(/\/+/g, '/')
}

/** The claim that comes first of those that match. */
export const first = (claims: ReadonlyArray<Claim>): Claim | undefined =>
  claims.reduce<Claim | undefined>(
    (best, claim) => (best === undefined || precedes(claim, best) ? claim : best),
    undefined,
  )

/** Exact path, longest prefix, regex; a method; most headers; most query parameters; age and name. */
const precedes = (a: Claim, b: Claim): boolean => {
  const [ranksOfA, ranksOfB] = [ranks(a), ranks(b)]
  const decisive = ranksOfA.findIndex((rank, index) => rank !== ranksOfB[index])
  if (decisive === -1) return isBefore(a.route, b.route)
  return (ranksOfA[decisive] ?? 0) > (ranksOfB[decisive] ?? 0)
}

const ranks = ({ path, method, headers, query }: Claim): ReadonlyArray<number> => [
  path.exact !== undefined ? 2 : path.prefix !== undefined ? 1 : 0,
  path.prefix === undefined ? 0 : withoutSlash(path.prefix).length,
  method === undefined ? 0 : 1,
  headers.length,
  query.length,
]
