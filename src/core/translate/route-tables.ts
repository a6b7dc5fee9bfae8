import type { HttpListener } from '../context.js'
import { compareStrings } from '../order.js'
import {
  type Fragment,
  hostHead,
  type Resource,
  tableHead,
  tableResource,
  type TableHost,
} from '../resource.js'
import { clusterType } from '../type-url.js'
import type { Granted } from './claims.js'
import { fragmentOf } from './routes.js'

/**
 * One route table for each listener, named as the listener: a virtual host for each hostname, in which the
 * claims stand in order of precedence. Without any claim the table is empty, and still there: an Envoy
 * keeps a table that is taken away.
 */
export const routeTablesOf = (
  listeners: ReadonlyArray<HttpListener>,
  granted: ReadonlyArray<Granted>,
): ReadonlyArray<Resource> => {
  const virtualHosts = virtualHostsOf(granted)
  return listeners.map(({ name }) => {
    // The Host header may name a port: it says where the client has connected to, not what it wants.
    const head = tableHead({ name, ignorePortInHostMatching: true })
    return tableResource(name, { head, virtualHosts }, clusterType)
  })
}

const virtualHostsOf = (granted: ReadonlyArray<Granted>): ReadonlyArray<TableHost> => {
  const byHost = new Map<string, Array<Fragment>>()
  for (const grant of granted) {
    const fragments = byHost.get(grant.host)
    if (fragments === undefined) byHost.set(grant.host, [fragmentOf(grant)])
    else fragments.push(fragmentOf(grant))
  }
  return [...byHost.entries()]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([host, fragments]) => ({
      name: host,
      head: hostHead({ name: host, domains: [host] }),
      fragments: fragments.sort((a, b) => compareStrings(a.sortKey, b.sortKey)),
    }))
}
