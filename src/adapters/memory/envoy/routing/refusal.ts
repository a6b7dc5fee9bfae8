import * as E from 'fp-ts/lib/Either.js'
import type { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import type {
  HeaderMatcher,
  QueryParameterMatcher,
  Route,
  VirtualHost,
} from '../../../../gen/envoy/config/route/v3/route_components.js'
import type { RegexMatcher } from '../../../../gen/envoy/type/matcher/v3/regex.js'
import type { StringMatcher } from '../../../../gen/envoy/type/matcher/v3/string.js'
import { clustersOf } from './clusters-of.js'
import { routesOf } from './host-routes.js'
import { readRegex } from './regex.js'

/** What Envoy finds in a route table when it is to use it, up to the first that it refuses. */
export interface TableFindings {
  /** What its fields alone say; it is looked at before the rest, and spoils the whole response. */
  readonly invalid: string | undefined
  /** In the order in which Envoy comes to them; behind a fault there is nothing more. */
  readonly findings: ReadonlyArray<TableFinding>
}

export type TableFinding =
  | { readonly _tag: 'Fault'; readonly reason: string }
  /** The table is refused where this cluster is neither there nor warming. */
  | { readonly _tag: 'Cluster'; readonly cluster: string; readonly reason: string }

/**
 * Reads what makes Envoy 1.40 refuse a route table, in its words: regexes that are none or too large,
 * domains that stand twice, clusters that it is to check, and hosts without a name or domain.
 */
export const readFindings = (table: RouteConfiguration): TableFindings => {
  const claim = claims(table.name ?? '')
  const all = (table.virtualHosts ?? []).flatMap((host) => [
    ...routesOf(host).flatMap((route) => [
      ...regexFaults(route),
      ...(table.validateClusters === true ? clusterFindings(route) : []),
    ]),
    ...(host.domains ?? []).flatMap(claim),
  ])
  const first = all.findIndex(({ _tag }) => _tag === 'Fault')
  return {
    invalid: invalidHost(table.virtualHosts ?? []),
    findings: first < 0 ? all : all.slice(0, first + 1),
  }
}

/** Why a table is refused by an Envoy with these clusters; `undefined` where it is not. */
export const faultIn = (
  findings: ReadonlyArray<TableFinding>,
  hasCluster: (cluster: string) => boolean,
): string | undefined =>
  findings.find((finding) => finding._tag === 'Fault' || !hasCluster(finding.cluster))?.reason

const fault = (reason: string): ReadonlyArray<TableFinding> => [{ _tag: 'Fault', reason }]

const invalidHost = (hosts: ReadonlyArray<VirtualHost>): string | undefined => {
  const at = hosts.findIndex((host) => (host.name ?? '') === '' || isEmpty(host.domains))
  if (at < 0) return undefined
  const rule =
    (hosts[at]?.name ?? '') === ''
      ? 'Name: value length must be at least 1 characters'
      : 'Domains: value must contain at least 1 item(s)'
  return (
    `Proto constraint validation failed (RouteConfigurationValidationError.VirtualHosts[${at}]: ` +
    `embedded message failed validation | caused by VirtualHostValidationError.${rule})`
  )
}

const isEmpty = (items: ReadonlyArray<unknown> | undefined): boolean => (items ?? []).length === 0

/** Makes the check that each domain of a table passes, in their order. */
const claims = (table: string): ((domain: string) => ReadonlyArray<TableFinding>) => {
  const taken = new Set<string>()
  return (domain) => {
    const lower = domain.toLowerCase()
    if (!taken.has(lower)) {
      taken.add(lower)
      return []
    }
    return fault(
      domain === '*'
        ? `Only a single wildcard domain is permitted in route ${table}`
        : `Only unique values for domains are permitted. Duplicate entry of domain ${lower} in route ${table}`,
    )
  }
}

const clusterFindings = (route: Route): ReadonlyArray<TableFinding> => {
  const action = route.action?.$case === 'route' ? route.action.value : undefined
  const kind =
    action?.clusterSpecifier?.$case === 'weightedClusters' ? 'weighted cluster' : 'cluster'
  return (clustersOf(route) ?? []).map((cluster) => ({
    _tag: 'Cluster',
    cluster,
    reason: `route: unknown ${kind} '${cluster}'`,
  }))
}

/** Envoy reads a route's headers first, then parameters, rewrites, and the path last. */
const regexFaults = ({ match, action }: Route): ReadonlyArray<TableFinding> =>
  [
    ...(match?.headers ?? []).map(headerRegex),
    ...(match?.queryParameters ?? []).map(parameterRegex),
    rewriteRegex(action),
    match?.pathSpecifier?.$case === 'safeRegex' ? match.pathSpecifier.value : undefined,
  ].flatMap((matcher) => {
    const read = matcher === undefined ? undefined : readRegex(matcher.regex ?? '')
    return read === undefined || E.isRight(read) ? [] : fault(read.left)
  })

const headerRegex = ({
  headerMatchSpecifier: specifier,
}: HeaderMatcher): RegexMatcher | undefined =>
  specifier?.$case === 'safeRegexMatch'
    ? specifier.value
    : specifier?.$case === 'stringMatch'
      ? stringRegex(specifier.value)
      : undefined

const parameterRegex = ({
  queryParameterMatchSpecifier: specifier,
}: QueryParameterMatcher): RegexMatcher | undefined =>
  specifier?.$case === 'stringMatch' ? stringRegex(specifier.value) : undefined

const stringRegex = ({ matchPattern }: StringMatcher): RegexMatcher | undefined =>
  matchPattern?.$case === 'safeRegex' ? matchPattern.value : undefined

const rewriteRegex = (action: Route['action']): RegexMatcher | undefined => {
  if (action?.$case === 'route') return action.value.regexRewrite?.pattern
  const rewrite = action?.$case === 'redirect' ? action.value.pathRewriteSpecifier : undefined
  return rewrite?.$case === 'regexRewrite' ? rewrite.value.pattern : undefined
}
