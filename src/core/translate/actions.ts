import {
  RedirectAction_RedirectResponseCode as RedirectCode,
  type Route,
  type RouteAction,
} from '../../gen/envoy/config/route/v3/route_components.js'
import type { Action, Forward, RedirectTo, RespondWith, RulePath } from '../rule.js'
import type { ClusterNames } from './clusters.js'
import { durationMs } from './duration.js'

/** What Envoy is to do with a request that matches at `path`. */
export const actionOf = (
  action: Action,
  path: RulePath,
  nameOf: ClusterNames,
): NonNullable<Route['action']> => {
  switch (action._tag) {
    case 'Forward':
      return { $case: 'route', value: forward(action, path, nameOf) }
    case 'Redirect':
      return { $case: 'redirect', value: redirect(action) }
    case 'Respond':
      return { $case: 'directResponse', value: respond(action) }
  }
}

/** The clusters that an action sends to, in the order of its backends, each once. */
export const clustersOfAction = (action: Action, nameOf: ClusterNames): ReadonlyArray<string> =>
  action._tag === 'Forward' ? [...new Set(action.backends.map(({ target }) => nameOf(target)))] : []

/** Equal for paths at which an action is encoded alike: all of them, unless it replaces a prefix. */
export const formOf = (action: Action, path: RulePath): string => {
  if (action._tag !== 'Forward' || action.rewritePath === undefined) return ''
  return path._tag === 'Prefix' ? path.value : path._tag
}

const forward = (action: Forward, path: RulePath, nameOf: ClusterNames): RouteAction => ({
  clusterSpecifier: clusterSpecifier(action, nameOf),
  timeout: durationMs(action.timeoutMs),
  ...idleTimeout(action.timeoutMs),
  ...(action.retries === undefined
    ? {}
    : {
        retryPolicy: { retryOn: action.retries.on.join(','), numRetries: action.retries.attempts },
      }),
  ...(action.rewritePath === undefined ? {} : rewrite(path, action.rewritePath)),
  ...(action.rewriteHost === undefined
    ? {}
    : { hostRewriteSpecifier: { $case: 'hostRewriteLiteral', value: action.rewriteHost } }),
})

/** A stream without a word is cut off after this long, unless its route says otherwise: Envoy's default. */
const streamIdleTimeoutMs = 300_000

/** Without it a longer timeout, or none, would end there. */
const idleTimeout = (timeoutMs: number): RouteAction =>
  timeoutMs === 0 || timeoutMs > streamIdleTimeoutMs ? { idleTimeout: durationMs(timeoutMs) } : {}

/** Backends that share a cluster share an entry: it has the sum of their weights. */
const clusterSpecifier = (
  { backends }: Forward,
  nameOf: ClusterNames,
): RouteAction['clusterSpecifier'] => {
  const weights = new Map<string, number>()
  for (const { target, weight } of backends) {
    const name = nameOf(target)
    weights.set(name, (weights.get(name) ?? 0) + weight)
  }
  const [only, ...others] = weights.keys()
  return only !== undefined && others.length === 0
    ? { $case: 'cluster', value: only }
    : {
        $case: 'weightedClusters',
        value: { clusters: [...weights].map(([name, weight]) => ({ name, weight })) },
      }
}

/**
 * Puts `replacement` in the place of the matched prefix, or of the whole path where it was matched exactly.
 *
 * Envoy replaces bytes, not path elements: `/checkout` by `/` would make `//x` of `/checkout/x`, so there the
 * slashes behind the prefix are taken too; and `/` by `/new` would make `/newx` of `/x`.
 */
const rewrite = (path: RulePath, replacement: string): RouteAction => {
  if (path._tag !== 'Prefix') return { prefixRewrite: replacement }
  const target = replacement === '/' ? '/' : replacement.replace(/\/$/, '')
  if (path.value === '/') return target === '/' ? {} : { prefixRewrite: `${target}/` }
  return target === '/'
    ? {
        regexRewrite: {
          pattern: { regex: `^${escapeRegex(path.value)}/*` },
          substitution: '/',
        },
      }
    : { prefixRewrite: target }
}

const escapeRegex = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const redirect = (action: RedirectTo): NonNullable<RedirectValue> => ({
  responseCode: redirectCodes[action.code],
  ...(action.host === undefined ? {} : { hostRedirect: action.host }),
  ...(action.scheme === undefined
    ? {}
    : { schemeRewriteSpecifier: { $case: 'schemeRedirect', value: action.scheme } }),
  ...(action.path === undefined
    ? {}
    : { pathRewriteSpecifier: { $case: 'pathRedirect', value: action.path } }),
})

type RedirectValue = Extract<Route['action'], { readonly $case: 'redirect' }>['value']
type RespondValue = Extract<Route['action'], { readonly $case: 'directResponse' }>['value']

const redirectCodes = {
  301: RedirectCode.MOVED_PERMANENTLY,
  302: RedirectCode.FOUND,
  303: RedirectCode.SEE_OTHER,
  307: RedirectCode.TEMPORARY_REDIRECT,
  308: RedirectCode.PERMANENT_REDIRECT,
} as const

const respond = ({ code, body }: RespondWith): RespondValue => ({
  status: code,
  ...(body === '' ? {} : { body: { specifier: { $case: 'inlineString', value: body } } }),
})
