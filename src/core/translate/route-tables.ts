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
  return listeners.map(({ name }) => tableResource(name, { head: tableHeadOf(name), virtualHosts }))
}

/** The settings of the table of a listener. */
export const tableHeadOf = (listener: string): Uint8Array =>
  // The Host header may name a port: it says where the client has connected to, not what it wants.
  tableHead({ name: listener, ignorePortInHostMatching: true })

/** The virtual host of a hostname; the fragments come in their order. */
export const tableHostOf = (host: string, fragments: ReadonlyArray<Fragment>): TableHost => ({
  name: host,
  head: hostHead({ name: host, domains: [host] }),
  fragments,
})

const virtualHostsOf = (fragments: ReadonlyArray<Fragment>): ReadonlyArray<TableHost> => {
  const byHost = new Map<string, Array<Fragment>>()
  for (const fragment of fragments) {
    const others = byHost.get(fragment.virtualHost)
    if (others === undefined) byHost.set(fragment.virtualHost, [fragment])
    else others.push(fragment)
  }
  return [...byHost.entries()]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([host, own]) =>
      tableHostOf(
        host,
        own.sort((a, b) => compareStrings(a.sortKey, b.sortKey)),
      ),
    )
}
