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
import { isWildcard, scopeHeader, shardOf, shardTable, type TableForm } from '../table-form.js'

/**
 * The route tables of a data plane, for its virtual hosts: in the whole form one for each listener, named as the
 * listener; in shards one for each shard, for all listeners. Without any claim a table is empty, and still there: an
 * Envoy keeps a table that is taken away, and opens no listener before it has every table that this one may need.
 */
export const routeTablesOf = (
  listeners: ReadonlyArray<HttpListener>,
  form: TableForm,
  hosts: ReadonlyArray<TableHost>,
): ReadonlyArray<Resource> => {
  switch (form._tag) {
    case 'Whole':
      return listeners.map(({ name }) => routeTable(name, hosts))
    case 'Sharded': {
      const { shards } = form
      const ownOf = hostsByShard(hosts, shards)
      return Array.from({ length: shards }, (_, shard) =>
        routeTable(shardTable(shards, shard), ownOf(shard)),
      )
    }
  }
}

/** The table of this name with these hosts, in the order of their names. */
export const routeTable = (name: string, virtualHosts: ReadonlyArray<TableHost>): Resource =>
  tableResource(name, { head: tableHeadOf(name), virtualHosts })

/**
 * The hosts of any shard, in the order of their names, as the given ones are. Costs O(hosts), and for each shard
 * that is asked for a copy of its own and of those with a wildcard.
 */
export const hostsByShard = (
  hosts: ReadonlyArray<TableHost>,
  shards: number,
): ((shard: number) => ReadonlyArray<TableHost>) => {
  const everywhere: Array<TableHost> = []
  const byShard = new Map<number, Array<TableHost>>()
  for (const host of hosts) {
    const shard = shardOf(host.name, shards)
    const others = isWildcard(host.name) ? everywhere : byShard.get(shard)
    if (others === undefined) byShard.set(shard, [host])
    else others.push(host)
  }
  // An asterisk comes before all that a name can begin with.
  return (shard) => [...everywhere, ...(byShard.get(shard) ?? [])]
}

/** The settings of the table of this name, the same in every form. */
export const tableHeadOf = (name: string): Uint8Array =>
  tableHead({
    name,
    // The Host header may name a port: it says where the client has connected to, not what it wants.
    ignorePortInHostMatching: true,
    // Between an Envoy and its control plane alone: what a client says there reaches no upstream in either form.
    requestHeadersToRemove: [scopeHeader],
  })

/** The virtual host of a hostname; the fragments come in their order. */
export const tableHostOf = (host: string, fragments: ReadonlyArray<Fragment>): TableHost => ({
  name: host,
  head: hostHead({ name: host, domains: [host] }),
  fragments,
})

/** A virtual host for each hostname, in which the claims stand in order of precedence. */
export const virtualHostsOf = (fragments: ReadonlyArray<Fragment>): ReadonlyArray<TableHost> => {
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
