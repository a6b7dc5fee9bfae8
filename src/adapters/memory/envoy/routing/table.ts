import { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import { Route, VirtualHost } from '../../../../gen/envoy/config/route/v3/route_components.js'
import { type CompiledAction, compileAction, type Matched } from './action.js'
import { changeFields, type Changes, joined, readChanges } from './changes.js'
import { findList, hostRoutes } from './host-routes.js'
import { compileMatch } from './match.js'
import { modelled } from './modelled.js'
import { withoutPort } from './path.js'
import type { Facts, Predicate } from './predicates.js'
import type { Decision } from './request.js'

/** A compiled route table: what it decides for a request, `undefined` where no route matches. */
export type Table = (matched: Matched) => Decision | undefined

/**
 * Compiles a whole route table, so that something that is not modelled shows whichever route a
 * request takes.
 */
export const compileTable = (table: RouteConfiguration): Table => {
  checkTable(table)
  const domains = compileDomains(table)
  const ignorePort = table.ignorePortInHostMatching === true
  return (matched) => {
    const host = matched.facts.host.toLowerCase()
    const findIn = findHost(domains, ignorePort ? withoutPort(host) : host)
    return findIn?.(matched.facts)?.act(matched)
  }
}

interface CompiledRoute {
  readonly matches: Predicate
  readonly act: CompiledAction
}

/** A compiled virtual host: the route that takes a request. */
type Host = (facts: Facts) => CompiledRoute | undefined

/** Domains by what is left of them without their star, the longest first. */
interface Domains {
  readonly exact: ReadonlyMap<string, Host>
  readonly suffixes: ReadonlyArray<readonly [suffix: string, found: Host]>
  readonly prefixes: ReadonlyArray<readonly [prefix: string, found: Host]>
  readonly any: Host | undefined
}

/** The most specific domain decides, and there is no going on to a less specific one. */
const findHost = (domains: Domains, host: string): Host | undefined =>
  domains.exact.get(host) ??
  domains.suffixes.find(([part]) => part.length < host.length && host.endsWith(part))?.[1] ??
  domains.prefixes.find(([part]) => part.length < host.length && host.startsWith(part))?.[1] ??
  domains.any

const compileDomains = (table: RouteConfiguration): Domains => {
  const byDomain = new Map<string, Host>()
  for (const host of table.virtualHosts ?? []) {
    const compiled = compileHost(host, readChanges(table))
    for (const domain of host.domains ?? []) byDomain.set(unused(byDomain, domain), compiled)
  }
  const all = [...byDomain].sort(([a], [b]) => b.length - a.length)
  const isSuffix = (domain: string): boolean => domain !== '*' && domain.startsWith('*')
  const isPrefix = (domain: string): boolean => domain !== '*' && domain.endsWith('*')
  return {
    exact: byDomain,
    suffixes: all.flatMap(([domain, host]) =>
      isSuffix(domain) ? [[domain.slice(1), host] as const] : [],
    ),
    prefixes: all.flatMap(([domain, host]) =>
      isPrefix(domain) ? [[domain.slice(0, -1), host] as const] : [],
    ),
    any: byDomain.get('*'),
  }
}

/** Envoy refuses a table in which a domain stands twice; to take either of them would hide that. */
const unused = (domains: ReadonlyMap<string, Host>, domain: string): string => {
  const lower = domain.toLowerCase()
  if (domains.has(lower)) throw new Error(`Envoy refuses this table: ${domain} stands in it twice`)
  return lower
}

const compileHost = (host: VirtualHost, above: Changes): Host => {
  checkHost(host)
  const changes = joined(readChanges(host), above)
  const compileList = (routes: ReadonlyArray<Route>): Host => {
    const compiled = routes.map((route) => compileRoute(route, changes))
    return (facts) => compiled.find((route) => route.matches(facts))
  }
  const read = hostRoutes(host)
  if (read._tag === 'List') return compileList(read.routes)
  const lists = new Map([...read.lists].map(([key, routes]) => [key, compileList(routes)]))
  return (facts) => findList(lists, facts)?.(facts)
}

const compileRoute = (route: Route, above: Changes): CompiledRoute => {
  checkRoute(route)
  const { matches, matchedPath } = compileMatch(route.match ?? {})
  const changes = joined(readChanges(route), above)
  return { matches, act: compileAction(route.action, matchedPath, changes) }
}

/** Behind the header fields: names, statistics, limits and checks, which change no answer. */
const checkTable = modelled(RouteConfiguration, [
  'virtualHosts',
  'ignorePortInHostMatching',
  ...changeFields,
  ...(['name', 'metadata', 'maxDirectResponseBodySizeBytes', 'validateClusters'] as const),
])
const checkHost = modelled(VirtualHost, [
  'domains',
  'routes',
  'matcher',
  ...changeFields,
  ...(['name', 'metadata', 'virtualClusters', 'retryPolicy', 'hedgePolicy'] as const),
  ...(['perRequestBufferLimitBytes', 'requestBodyBufferLimit'] as const),
])
const checkRoute = modelled(Route, [
  'match',
  'action',
  ...changeFields,
  ...(['name', 'metadata', 'decorator', 'tracing', 'statPrefix'] as const),
  ...(['perRequestBufferLimitBytes', 'requestBodyBufferLimit'] as const),
])
