import {
  RedirectAction,
  RedirectAction_RedirectResponseCode as ResponseCode,
} from '../../../../gen/envoy/config/route/v3/route_components.js'
import type { MatchedPath } from './match.js'
import { modelled, notModelled } from './modelled.js'
import { splitPath } from './path.js'
import type { Facts } from './predicates.js'
import { type PathRewrite, prefixRewrite, regexRewrite } from './rewrite.js'

/** What a redirect answers: its code, and where it points. */
export interface CompiledRedirect {
  readonly code: number
  readonly location: (facts: Facts) => string
}

export const compileRedirect = (
  redirect: RedirectAction,
  matchedPath: MatchedPath,
): CompiledRedirect => {
  checkRedirect(redirect)
  const scheme = readScheme(redirect)
  const port = redirect.portRedirect ?? 0
  const path = compilePath(redirect, matchedPath)
  return {
    code: readCode(redirect.responseCode),
    location: (facts) => {
      const keptHost = hostFor(facts.host, scheme, port)
      const host = redirect.hostRedirect === '' ? keptHost : (redirect.hostRedirect ?? keptHost)
      return `${scheme}://${host}${port === 0 ? '' : `:${port}`}${path(facts)}`
    },
  }
}

/** Requests come in without TLS, so the scheme stays `http` unless it is changed. */
const readScheme = ({ schemeRewriteSpecifier: specifier }: RedirectAction): string => {
  switch (specifier?.$case) {
    case 'httpsRedirect':
      return specifier.value ? 'https' : 'http'
    case 'schemeRedirect':
      return specifier.value
    case undefined:
      return 'http'
  }
}

/** A port is dropped for a new one, and `:80` where the scheme that it is the default of changes. */
const hostFor = (host: string, scheme: string, port: number): string => {
  if (port !== 0) return host.replace(/:\d+$/, '')
  return scheme === 'http' ? host : host.replace(/:80$/, '')
}

/** A query in the configured path takes the place of the request's, and stays even if stripping. */
const compilePath = (redirect: RedirectAction, matchedPath: MatchedPath): PathRewrite => {
  const specifier = redirect.pathRewriteSpecifier
  const queryOf = ({ query }: Facts): string => (redirect.stripQuery === true ? '' : query)
  switch (specifier?.$case) {
    case 'pathRedirect':
      return splitPath(specifier.value).query === ''
        ? (facts) => specifier.value + queryOf(facts)
        : () => specifier.value
    case 'prefixRewrite': {
      const rewrite = prefixRewrite(specifier.value, matchedPath)
      return (facts) => rewrite(facts) + queryOf(facts)
    }
    case 'regexRewrite': {
      const rewrite = regexRewrite(specifier.value)
      return (facts) => rewrite(facts) + queryOf(facts)
    }
    case 'pathRewrite':
      return notModelled('RedirectAction.pathRewrite')
    case undefined:
      return (facts) => facts.path + queryOf(facts)
  }
}

const readCode = (code: ResponseCode | undefined): number => {
  switch (code ?? ResponseCode.MOVED_PERMANENTLY) {
    case ResponseCode.MOVED_PERMANENTLY:
      return 301
    case ResponseCode.FOUND:
      return 302
    case ResponseCode.SEE_OTHER:
      return 303
    case ResponseCode.TEMPORARY_REDIRECT:
      return 307
    case ResponseCode.PERMANENT_REDIRECT:
      return 308
    case ResponseCode.UNRECOGNIZED:
      return notModelled(`RedirectAction.responseCode ${code}`)
  }
}

const checkRedirect = modelled(RedirectAction, [
  'schemeRewriteSpecifier',
  'hostRedirect',
  'portRedirect',
  'pathRewriteSpecifier',
  'responseCode',
  'stripQuery',
])
