import type { HttpListener } from '../context.js'
import { compareStrings, edited, findSorted } from '../order.js'
import {
  clusterRefs,
  type Fragment,
  type Ref,
  type Resource,
  type TableHost,
  tableResourceOf,
} from '../resource.js'
import { tableHeadOf, tableHostOf } from '../translate/route-tables.js'
import { tally } from './tally.js'

/** The fragments of a data plane, and the tables that they make. */
export interface TableIndex {
  readonly put: (fragment: Fragment) => void
  readonly drop: (fragment: Fragment) => void
  /** The tables as they are now, one for each listener; none if nothing has changed since this was last asked. */
  readonly changed: () => ReadonlyArray<Resource>
}

/**
 * Begins with empty tables, which `changed` gives when it is first asked.
 *
 * A changed host is made anew, by a copy of its list of fragments; hosts that are not touched keep theirs, their
 * digests and their bytes. The list of hosts is copied.
 */
export const tableIndex = (listeners: ReadonlyArray<HttpListener>): TableIndex => {
  const heads = listeners.map(({ name }) => ({ name, head: tableHeadOf(name) }))
  const owners = tally()
  const clusters = tally()
  const edits = new Map<string, Map<string, Fragment | undefined>>()
  const refsOf = refsToClusters()
  let hosts: ReadonlyArray<TableHost> = []
  let isNew = true
  const edit = (host: string, key: string, fragment: Fragment | undefined): void => {
    const known = edits.get(host)
    if (known === undefined) edits.set(host, new Map([[key, fragment]]))
    else known.set(key, fragment)
  }
  return {
    put: (fragment) => {
      owners.add(fragment.owner)
      fragment.clusters.forEach(clusters.add)
      edit(fragment.virtualHost, fragment.sortKey, fragment)
    },
    drop: ({ owner, clusters: names, virtualHost, sortKey }) => {
      owners.drop(owner)
      names.forEach(clusters.drop)
      edit(virtualHost, sortKey, undefined)
    },
    changed: () => {
      if (edits.size === 0 && !isNew) return []
      isNew = false
      hosts = withEdits(hosts, edits)
      edits.clear()
      const inside = { owners: owners.names(), refs: refsOf(clusters.names()) }
      return heads.map(({ name, head }) =>
        tableResourceOf(name, { head, virtualHosts: hosts }, inside),
      )
    },
  }
}

/** A host without fragments is none. */
const withEdits = (
  hosts: ReadonlyArray<TableHost>,
  edits: ReadonlyMap<string, ReadonlyMap<string, Fragment | undefined>>,
): ReadonlyArray<TableHost> => {
  const changed = new Map<string, TableHost | undefined>()
  for (const [name, own] of edits) {
    const before = findSorted(hosts, (host) => compareStrings(host.name, name))?.fragments ?? []
    const fragments = edited(before, ({ sortKey }) => sortKey, own)
    changed.set(name, fragments.length === 0 ? undefined : tableHostOf(name, fragments))
  }
  return edited(hosts, ({ name }) => name, changed)
}

/** The references to these clusters: the very same list for the very same names. */
const refsToClusters = (): ((names: ReadonlyArray<string>) => ReadonlyArray<Ref>) => {
  let known: ReadonlyArray<string> = []
  let refs: ReadonlyArray<Ref> = []
  return (names) => {
    if (names !== known) refs = clusterRefs(names)
    known = names
    return refs
  }
}
