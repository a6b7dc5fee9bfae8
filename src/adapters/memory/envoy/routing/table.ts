import { RouteConfiguration } from '../../../../gen/envoy/config/route/v3/route.js'
import { Route, VirtualHost } from '../../../../gen/envoy/config/route/v3/route_components.js'
import { type CompiledAction, compileAction, type Matched } from './action.js'
import { changeFields, type Changes, joined, readChanges } from './changes.js'
import { compileMatch } from './match.js'
import { modelled } from './modelled.js'
import type { Predicate } from './predicates.js'
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
    const routes = findRoutes(domains, ignorePort ? host.replace(/:\d+$/, '') : host)
    return routes?.find((route) => route.matches(matched.facts))?.act(matched)
  }
}

interface CompiledRoute {
  readonly matches: Predicate
  readonly act: CompiledAction
}

type Routes = ReadonlyArray<CompiledRoute>

/** Domains by what is left of them without their star, the longest first. */
interface Domains {
  readonly exact: ReadonlyMap<string, Routes>
  readonly suffixes: ReadonlyArray<readonly [suffix: string, routes: Routes]>
  readonly prefixes: ReadonlyArray<readonly [prefix: string, routes: Routes]>
  readonly any: Routes | undefined
}

/** The most specific domain decides, and there is no going on to a less specific one. */
const findRoutes = (domains: Domains, host: string): Routes | undefined =>
  domains.exact.get(host) ??
  domains.suffixes.find(([part]) => part.length < host.length && host.endsWith(part))?.[1] ??
  domains.prefixes.find(([part]) => part.length < host.length && host.startsWith(part))?.[1] ??
  domains.any

const compileDomains = (table: RouteConfiguration): Domains => {
  const byDomain = new Map<string, Routes>()
  for (const host of table.virtualHosts ?? []) {
    const routes = compileHost(host, readChanges(table))
    for (const domain of host.domains ?? []) byDomain.set(unused(byDomain, domain), routes)
  }
  const all = [...byDomain].sort(([a], [b]) => b.length - a.length)
  const isSuffix = (domain: string): boolean => domain !== '*' && domain.startsWith('*')
  const isPrefix = (domain: string): boolean => domain !== '*' && domain.endsWith('*')
  return {
    exact: byDomain,
    suffixes: all.flatMap(([domain, routes]) =>
      isSuffix(domain) ? [[domain.slice(1), routes] as const] : [],
    ),
    prefixes: all.flatMap(([domain, routes]) =>
      isPrefix(domain) ? [[domain.slice(0, -1), routes] as const] : [],
    ),
    any: byDomain.get('*'),
  }
}

/** Envoy refuses a table in which a domain stands twice; to take either of them would hide that. */
const unused = (domains: ReadonlyMap<string, Routes>, domain: string): string => {
  const lower = domain.toLowerCase()
  if (domains.has(lower)) throw new Error(`Envoy refuses this table: ${domain} stands in it twice`)
  return lower
}

const compileHost = (host: VirtualHost, above: Changes): Routes => {
  checkHost(host)
  const changes = joined(readChanges(host), above)
  return (host.routes ?? []).map((route) => compileRoute(route, changes))
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
