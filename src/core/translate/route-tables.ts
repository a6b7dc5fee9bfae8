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

/**
 * One route table for each listener, named as the listener: a virtual host for each hostname, in which the
 * claims stand in order of precedence. Without any claim the table is empty, and still there: an Envoy
 * keeps a table that is taken away.
 */
export const routeTablesOf = (
  listeners: ReadonlyArray<HttpListener>,
  fragments: ReadonlyArray<Fragment>,
): ReadonlyArray<Resource> => {
  const virtualHosts = virtualHostsOf(fragments)
  return listeners.map(({ name }) => {
    // The Host header may name a port: it says where the client has connected to, not what it wants.
    const head = tableHead({ name, ignorePortInHostMatching: true })
    return tableResource(name, { head, virtualHosts })
  })
}

const virtualHostsOf = (fragments: ReadonlyArray<Fragment>): ReadonlyArray<TableHost> => {
  const byHost = new Map<string, Array<Fragment>>()
  for (const fragment of fragments) {
    const others = byHost.get(fragment.virtualHost)
    if (others === undefined) byHost.set(fragment.virtualHost, [fragment])
    else others.push(fragment)
  }
  return [...byHost.entries()]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([host, own]) => ({
      name: host,
      head: hostHead({ name: host, domains: [host] }),
      fragments: own.sort((a, b) => compareStrings(a.sortKey, b.sortKey)),
    }))
}
