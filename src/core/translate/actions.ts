import {
  RedirectAction_RedirectResponseCode as RedirectCode,
  type Route,
  type RouteAction,
} from '../../gen/envoy/config/route/v3/route_components.js'
import type { Action, Forward, RedirectTo, RespondWith, RulePath } from '../rule.js'
import { clusterName } from './clusters.js'
import { durationMs } from './duration.js'

/** What Envoy is to do with a request that matches at `path`. */
export const actionOf = (action: Action, path: RulePath): NonNullable<Route['action']> => {
  switch (action._tag) {
    case 'Forward':
      return { $case: 'route', value: forward(action, path) }
    case 'Redirect':
      return { $case: 'redirect', value: redirect(action) }
    case 'Respond':
      return { $case: 'directResponse', value: respond(action) }
  }
}

/** The clusters that an action sends to, in the order of its backends, each once. */
export const clustersOfAction = (action: Action): ReadonlyArray<string> =>
  action._tag === 'Forward'
    ? [...new Set(action.backends.map(({ target }) => clusterName(target)))]
    : []

const forward = (action: Forward, path: RulePath): RouteAction => ({
  clusterSpecifier: clusterSpecifier(action),
  timeout: durationMs(action.timeoutMs),
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

const clusterSpecifier = ({ backends }: Forward): RouteAction['clusterSpecifier'] => {
  const [only, ...others] = backends
  return only !== undefined && others.length === 0
    ? { $case: 'cluster', value: clusterName(only.target) }
    : {
        $case: 'weightedClusters',
        value: {
          clusters: backends.map(({ target, weight }) => ({ name: clusterName(target), weight })),
        },
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
