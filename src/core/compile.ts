import { type Either, left, right } from 'fp-ts/lib/Either.js'
import { type Errors, readRoute } from './codec/decode.js'
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
import type { FieldError } from './field-error.js'
import { compareStrings, exactSize } from './order.js'
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

/** What became of a route when it was compiled. */
export interface Compilation {
  /** Absent where the metadata is broken. */
  readonly metadata: Metadata | undefined
  readonly rule: Either<Errors, Rule>
}

/**
 * Compiles a route to the internal form: defaults applied, names canonical, one match per method.
 *
 * Reads and checks everything again, since a route may have been put together by hand. The result for one
 * route object is kept as long as the object is, so that an unchanged route costs nothing when it is
 * translated again; the object must not change meanwhile.
 */
export const compile = (route: EdgeRoute): Compilation => {
  const known = compiled.get(route)
  if (known !== undefined) return known
  const result = compileAnew(route)
  if (isObject(route)) compiled.set(route, result)
  return result
}

/** The rule of a route; on the left is all that is wrong with it. */
export const compileRoute = (route: EdgeRoute): Either<Errors, Rule> => compile(route).rule

const compiled = new WeakMap<EdgeRoute, Compilation>()

/** What is no object cannot be remembered, nor is it a route. */
const isObject = (route: unknown): boolean => typeof route === 'object' && route !== null

const compileAnew = (route: EdgeRoute): Compilation => {
  const { metadata, spec } = readRoute(route)
  const known = metadata._tag === 'Right' ? metadata.right : undefined
  if (metadata._tag === 'Right' && spec._tag === 'Right')
    return { metadata: known, rule: right(ruleOf(metadata.right, spec.right)) }
  const [first = unreadable, ...rest] = [...errorsIn(metadata), ...errorsIn(spec)]
  return { metadata: known, rule: left([first, ...rest]) }
}

const unreadable: FieldError = { path: '', message: 'cannot be read' }

const errorsIn = (part: Either<Errors, unknown>): ReadonlyArray<FieldError> =>
  part._tag === 'Left' ? part.left : []

const ruleOf = (metadata: Metadata, spec: EdgeRouteSpec): Rule => ({
  owner: ownerOf(metadata),
  dataPlane: spec.dataPlane ?? defaultDataPlane,
  hosts: spec.hostnames ?? everyHost,
  matches: exactSize((spec.matches ?? [{}]).flatMap(expandMatch)),
  action: actionOf(spec, metadata.namespace),
  requestHeaders: editsOf(spec.headers?.request),
  responseHeaders: editsOf(spec.headers?.response),
})

const everyHost: ReadonlyArray<string> = ['*']

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
    backends: exactSize(backends.flatMap((backend, index) => backendOf(backend, index, namespace))),
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
const editsOf = (changes: HeaderChanges | undefined): HeaderEdits => {
  if (changes === undefined) return noEdits
  const { set = [], add = [], remove = [] } = changes
  return {
    set: editedValues(set),
    add: editedValues(add),
    remove: remove.map((name) => name.toLowerCase()).sort(compareStrings),
  }
}

/** Of most routes; one for all of them. */
const noEdits: HeaderEdits = { set: [], add: [], remove: [] }

const editedValues = (values: HeaderEdits['set']): HeaderEdits['set'] =>
  values
    .map(({ name, value }) => ({ name: name.toLowerCase(), value }))
    .sort((a, b) => compareStrings(a.name, b.name))
