import type { RequestParts } from '../../../src/testing/arbitraries/requests.js'
/** A header or a query parameter: a name and its value. */
export type Pair = readonly [name: string, value: string]

/** One request, as a client sends it. */
export type Request = RequestParts

/**
 * What a client gets.
 *
 * `Forwarded` says where requests of this kind may go rather than where one of them would: equal
 * shares split the requests alike, in whatever order the backends stand.
 */
export type Answer =
  | { readonly _tag: 'NotFound' }
  /** Nothing can take the request: 503. */
  | { readonly _tag: 'Unavailable' }
  | Forwarded
  | {
      readonly _tag: 'Redirected'
      readonly code: number
      readonly location: string
      readonly responseHeaders: ReadonlyArray<string>
    }
  | {
      readonly _tag: 'Responded'
      readonly code: number
      readonly body: string
      readonly responseHeaders: ReadonlyArray<string>
    }

export interface Forwarded {
  readonly _tag: 'Forwarded'
  /**
   * Endpoints → their part of the requests, in lowest terms and sorted. Several endpoints of one
   * backend stand together; the part that gets a 503 has no endpoints.
   */
  readonly shares: ReadonlyArray<readonly [endpoints: string, share: number]>
  /** As the backend sees them; the path with the query. */
  readonly path: string
  readonly host: string
  readonly requestHeaders: ReadonlyArray<string>
  readonly responseHeaders: ReadonlyArray<string>
}

/** The headers of every answer of every backend in these tests; changes of headers start from them. */
export const upstreamHeaders: ReadonlyArray<Pair> = [
  ['x-a', 'up'],
  ['x-c', 'up'],
  ['server', 'up'],
]

/** A target's weight counts once, however many backends name it; a weight of zero not at all. */
export const sharesOf = (
  weighted: ReadonlyArray<readonly [endpoints: string, weight: number]>,
): Forwarded['shares'] => {
  const sums = new Map<string, number>()
  for (const [endpoints, weight] of weighted)
    if (weight > 0) sums.set(endpoints, (sums.get(endpoints) ?? 0) + weight)
  const divisor = [...sums.values()].reduce(gcd, 0)
  return [...sums].sort().map(([endpoints, sum]) => [endpoints, sum / divisor])
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

/** The changes of headers that a route asks for, in whatever form it was read from. */
export interface HeaderEdits {
  readonly set: ReadonlyArray<Pair>
  readonly add: ReadonlyArray<Pair>
  readonly remove: ReadonlyArray<string>
}

/** First removes, then replaces, then adds; sorted, as `name: value`. */
export const edited = (
  headers: ReadonlyArray<Pair>,
  { set, add, remove }: HeaderEdits,
): ReadonlyArray<string> => {
  const gone = new Set([...remove, ...set.map(([name]) => name)].map((name) => name.toLowerCase()))
  return [...headers.filter(([name]) => !gone.has(name)), ...set, ...add]
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .sort()
}

/** As it stands on the request line, with a question mark before it; empty where there is none. */
export const queryOf = ({ query }: Request): string =>
  query.length === 0 ? '' : `?${query.map(([name, value]) => `${name}=${value}`).join('&')}`
