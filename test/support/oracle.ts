/**
 * The oracle: a second implementation of what EdgeRoutes mean, slow and obvious. It goes straight from
 * the objects as their authors wrote them to answers and verdicts, tries every claim against every
 * other, and shares no code with the translation that it judges.
 */
import type { Context } from '../../src/core/context.js'
import type { EdgeRoute, HeaderChanges } from '../../src/core/edge-route.js'
import {
  type Answer,
  edited,
  type Pair,
  queryOf,
  type Request,
  sharesOf,
  upstreamHeaders,
} from './oracle/answer.js'
import { endpointsOf, unreachable, type Unreachable } from './oracle/backends.js'
import { type Claim, claimsOf, isBefore, nameOf, withoutSlash } from './oracle/claims.js'
import { claimMatches, first, normalised, ofTheHost } from './oracle/matching.js'

/**
 * Routes and what is around them. `broken` names the routes that are not valid, by uid: the tests of
 * the decoder say which are, not the oracle.
 */
export interface World {
  readonly routes: ReadonlyArray<EdgeRoute>
  readonly broken: ReadonlySet<string>
  readonly context: Context
}

export type OracleVerdict =
  | { readonly _tag: 'Terminating' | 'Invalid' | 'UnknownDataPlane' }
  | { readonly _tag: 'Accepted'; readonly unreachable: ReadonlyArray<Unreachable> }
  | {
      readonly _tag: 'Conflicted'
      /** The names of the routes that have what this one asked for too, sorted. */
      readonly winners: ReadonlyArray<string>
      readonly lost: number
      readonly kept: number
      readonly unreachable: ReadonlyArray<Unreachable>
    }

/** What each route should be told, by uid. */
export const oracleVerdicts = (world: World): ReadonlyMap<string, OracleVerdict> => {
  const claims = claimsOfAll(world)
  return new Map(world.routes.map((route) => [route.metadata.uid, judge(route, world, claims)]))
}

/** What each request should get. */
export const oracleAnswers = (
  world: World,
  requests: ReadonlyArray<Request>,
): ReadonlyArray<Answer> => {
  const all = claimsOfAll(world)
  const kept = all.filter((claim) => winnerOf(claim, all) === claim.route)
  return requests.map((request) => {
    const own = kept.filter(({ route }) => dataPlaneOf(route) === request.dataPlane)
    const matching = ofTheHost(own, request.host).filter((claim) => claimMatches(claim, request))
    const claim = first(matching)
    return claim === undefined ? { _tag: 'NotFound' } : serve(claim, request, world.context)
  })
}

const judge = (route: EdgeRoute, world: World, claims: ReadonlyArray<Claim>): OracleVerdict => {
  const reason = whyNot(route, world)
  if (reason !== undefined) return { _tag: reason }
  const winners = claimsOf(route).map((claim) => winnerOf(claim, claims))
  const lostTo = winners.filter((winner) => winner !== route)
  const lost = lostTo.length
  const kept = winners.length - lost
  const missing = unreachable(route, world.context)
  if (lost === 0) return { _tag: 'Accepted', unreachable: missing }
  const names = [...new Set(lostTo.map(nameOf))].sort()
  return { _tag: 'Conflicted', winners: names, lost, kept, unreachable: missing }
}

/** The claims of all routes that take part. */
const claimsOfAll = (world: World): ReadonlyArray<Claim> =>
  world.routes.filter((route) => whyNot(route, world) === undefined).flatMap(claimsOf)

/** Of all routes of a data plane that claim the same, the one that comes first. */
const winnerOf = (claim: Claim, claims: ReadonlyArray<Claim>): EdgeRoute =>
  claims
    .filter(
      ({ key, route }) => key === claim.key && dataPlaneOf(route) === dataPlaneOf(claim.route),
    )
    .reduce((best, { route }) => (isBefore(route, best) ? route : best), claim.route)

/** Why a route takes no part in anything. */
const whyNot = (
  route: EdgeRoute,
  { broken, context }: World,
): 'Terminating' | 'Invalid' | 'UnknownDataPlane' | undefined => {
  if (route.metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (broken.has(route.metadata.uid)) return 'Invalid'
  return context.dataPlanes.has(dataPlaneOf(route)) ? undefined : 'UnknownDataPlane'
}

const dataPlaneOf = ({ spec }: EdgeRoute): string => spec.dataPlane ?? 'edge-envoy'

const serve = (claim: Claim, request: Request, context: Context): Answer => {
  const { backends, redirect, respond, headers } = claim.route.spec
  if (backends !== undefined) return forward(claim, request, context)
  const responseHeaders = changed([], headers?.response)
  if (respond !== undefined)
    return { _tag: 'Responded', code: respond.code, body: respond.body ?? '', responseHeaders }
  const { code = 301, scheme = 'http', host = request.host, path } = redirect ?? {}
  const location = `${scheme}://${host}${path ?? normalised(request.path)}${queryOf(request)}`
  return { _tag: 'Redirected', code, location, responseHeaders }
}

const forward = (claim: Claim, request: Request, context: Context): Answer => {
  const { spec } = claim.route
  const shares = sharesOf(
    (spec.backends ?? []).map((backend) => [
      endpointsOf(backend, claim.route, context),
      backend.weight ?? 1,
    ]),
  )
  if (shares.every(([endpoints]) => endpoints === '')) return { _tag: 'Unavailable' }
  return {
    _tag: 'Forwarded',
    shares,
    path: pathBehind(claim, request) + queryOf(request),
    host: spec.rewrite?.host ?? request.host,
    requestHeaders: changed(request.headers, spec.headers?.request),
    responseHeaders: changed(upstreamHeaders, spec.headers?.response),
  }
}

/** The path that the backend sees. A matched prefix is replaced by whole elements, never to `//`. */
const pathBehind = ({ route, path }: Claim, request: Request): string => {
  const actual = normalised(request.path)
  const replacement = route.spec.rewrite?.prefix
  if (replacement === undefined) return actual
  if (path.exact !== undefined) return replacement
  const rest = actual.slice(withoutSlash(path.prefix ?? '/').length)
  return withoutSlash(replacement) + rest || '/'
}

const changed = (
  headers: ReadonlyArray<Pair>,
  { set = [], add = [], remove = [] }: HeaderChanges = {},
): ReadonlyArray<string> => edited(headers, { set: pairs(set), add: pairs(add), remove })

const pairs = (
  values: ReadonlyArray<{ readonly name: string; readonly value: string }>,
): ReadonlyArray<Pair> => values.map(({ name, value }) => [name, value])

/** How long a route waits for its backends, and how often it tries again. */
export interface Patience {
  /** Zero: for ever. */
  readonly timeoutMs: number
  readonly attempts: number
  /** Sorted; undefined where the author leaves it open. */
  readonly on: ReadonlyArray<string> | undefined
}

export const oraclePatience = ({ spec }: EdgeRoute): Patience => ({
  timeoutMs: milliseconds(spec.timeouts?.request ?? '15s'),
  attempts: spec.retries?.attempts ?? 0,
  on: spec.retries?.on && [...spec.retries.on].sort(),
})

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/** A Go duration. */
const milliseconds = (duration: string): number =>
  [...duration.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (unitsMs[unit ?? ''] ?? NaN),
    0,
  )
