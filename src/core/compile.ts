import { type Either, left, right } from 'fp-ts/lib/Either.js'
import { checkRoute, type Errors } from './codec/decode.js'
import { expandMatch } from './codec/canonical.js'
import { canonicalIp } from './codec/check/ip.js'
import { parseTimestamp } from './codec/timestamp.js'
import { parseDuration } from './duration.js'
import {
  type AddressRef,
  type Backend,
  defaultDataPlane,
  type EdgeRoute,
  type EdgeRouteSpec,
  type HeaderChanges,
  kind,
  type Metadata,
} from './edge-route.js'
import { compareStrings } from './order.js'
import type { Action, Forward, HeaderEdits, Owner, Rule, RuleBackend, Target } from './rule.js'

/** The timeout of a route that names none: Envoy's own default. */
const defaultTimeoutMs = 15_000

/**
 * The retry conditions of a route that names none: those under which a request cannot have reached an
 * application, so that no request is carried out twice.
 */
const defaultRetryConditions: ReadonlyArray<string> = [
  'connect-failure',
  'refused-stream',
  'reset-before-request',
]

/**
 * Compiles a route to the internal form: defaults applied, names canonical, one match per method.
 *
 * Checks everything again, since a route may have been put together by hand; on the left is what
 * `checkSpec` says. The result for one route object is kept as long as the object is, so that an
 * unchanged route costs nothing when it is translated again.
 */
export const compileRoute = (route: EdgeRoute): Either<Errors, Rule> => {
  const known = compiled.get(route)
  if (known !== undefined) return known
  const result = compile(route)
  compiled.set(route, result)
  return result
}

const compiled = new WeakMap<EdgeRoute, Either<Errors, Rule>>()

const compile = (route: EdgeRoute): Either<Errors, Rule> => {
  const [first, ...rest] = checkRoute(route)
  if (first !== undefined) return left([first, ...rest])
  const { metadata, spec } = route
  return right({
    owner: ownerOf(metadata),
    dataPlane: spec.dataPlane ?? defaultDataPlane,
    hosts: spec.hostnames ?? ['*'],
    matches: (spec.matches ?? [{}]).flatMap(expandMatch),
    action: actionOf(spec, metadata.namespace),
    requestHeaders: editsOf(spec.headers?.request),
    responseHeaders: editsOf(spec.headers?.response),
  })
}

const ownerOf = ({ uid, namespace, name, creationTimestamp }: Metadata): Owner => ({
  kind,
  uid,
  key: { namespace, name },
  createdAtMs: parseTimestamp(creationTimestamp ?? '') ?? Infinity,
})

const actionOf = (spec: EdgeRouteSpec, namespace: string): Action => {
  const { redirect, respond } = spec
  if (redirect !== undefined) {
    const { scheme, host, path, code = 301 } = redirect
    return { _tag: 'Redirect', scheme, host, path, code }
  }
  if (respond !== undefined)
    return { _tag: 'Respond', code: respond.code, body: respond.body ?? '' }
  return forward(spec, namespace)
}

const forward = (spec: EdgeRouteSpec, namespace: string): Forward => {
  const { backends = [], timeouts, retries, rewrite } = spec
  return {
    _tag: 'Forward',
    backends: backends.flatMap((backend, index) => backendOf(backend, index, namespace)),
    timeoutMs: timeoutOf(timeouts?.request),
    retries: retries && {
      attempts: retries.attempts,
      on: [...(retries.on ?? defaultRetryConditions)].sort(compareStrings),
    },
    rewritePath: rewrite?.prefix,
    rewriteHost: rewrite?.host,
  }
}

const timeoutOf = (request: string | undefined): number => {
  const parsed = request === undefined ? right(defaultTimeoutMs) : parseDuration(request)
  return parsed._tag === 'Right' ? parsed.right : defaultTimeoutMs
}

const backendOf = (
  { service, address, weight = 1 }: Backend,
  index: number,
  namespace: string,
): ReadonlyArray<RuleBackend> => {
  const field = `spec.backends[${index}]`
  if (service !== undefined)
    return [{ field, weight, target: { _tag: 'Service', namespace, ...service } }]
  return address === undefined ? [] : [{ field, weight, target: addressTarget(address) }]
}

const addressTarget = ({ host, port }: AddressRef): Target => {
  const ip = canonicalIp(host)
  return ip === undefined
    ? { _tag: 'Dns', host: host.toLowerCase(), port }
    : { _tag: 'Ip', address: ip, port }
}

/** Names are unique in each list, so that their order says nothing. */
const editsOf = ({ set = [], add = [], remove = [] }: HeaderChanges = {}): HeaderEdits => ({
  set: editedValues(set),
  add: editedValues(add),
  remove: remove.map((name) => name.toLowerCase()).sort(compareStrings),
})

const editedValues = (values: HeaderEdits['set']): HeaderEdits['set'] =>
  values
    .map(({ name, value }) => ({ name: name.toLowerCase(), value }))
    .sort((a, b) => compareStrings(a.name, b.name))
