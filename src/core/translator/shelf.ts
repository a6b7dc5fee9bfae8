import { changedHost } from '../host-form.js'
import { compareStrings, edited, findSorted } from '../order.js'
import { type Fragment, sortedStrings, type TableHost, type Uid } from '../resource.js'
import { tableHostOf } from '../translate/route-tables.js'
import { tally } from './tally.js'

/** Virtual hosts that stand in the same tables. */
export interface Shelf {
  readonly put: (fragment: Fragment) => void
  readonly drop: (fragment: Fragment) => void
  /** Puts a host in the place of the one of its name, as it is. */
  readonly replace: (change: HostChange) => void
  /** What stands there now. */
  readonly contents: () => ShelfContents
  /** How many hosts there were when `contents` was last asked. */
  readonly size: () => number
}

/** A host that is another than before, or is there on one side only. */
export interface HostChange {
  readonly name: string
  readonly before: TableHost | undefined
  readonly after: TableHost | undefined
}

/** Each list is the very same as long as it says the same. */
export interface ShelfContents {
  /** In the order of their names. */
  readonly hosts: ReadonlyArray<TableHost>
  readonly owners: ReadonlyArray<Uid>
  /** The names of the clusters that they send to, sorted. */
  readonly clusters: ReadonlyArray<string>
}

/**
 * Begins with these hosts, in the order of their names.
 *
 * A changed host is made anew, by a copy of its list of fragments; hosts that are not touched keep theirs, their
 * digests and their bytes. The list of hosts is copied.
 */
export const shelfOf = (first: ReadonlyArray<TableHost>): Shelf => {
  const counts = fragmentCounts()
  const edits = new Map<string, Map<string, Fragment | undefined>>()
  const replaced = new Map<string, TableHost | undefined>()
  let hosts = first
  const edit = (host: string, key: string, fragment: Fragment | undefined): void => {
    const known = edits.get(host)
    if (known === undefined) edits.set(host, new Map([[key, fragment]]))
    else known.set(key, fragment)
  }
  for (const { fragments } of first) fragments.forEach(counts.add)
  return {
    put: (fragment) => {
      counts.add(fragment)
      edit(fragment.virtualHost, fragment.sortKey, fragment)
    },
    drop: (fragment) => {
      counts.drop(fragment)
      edit(fragment.virtualHost, fragment.sortKey, undefined)
    },
    replace: ({ name, before, after }) => {
      before?.fragments.forEach(counts.drop)
      after?.fragments.forEach(counts.add)
      replaced.set(name, after)
    },
    contents: () => {
      const changed = new Map([...replaced, ...editedHosts(hosts, edits)])
      if (changed.size > 0) hosts = edited(hosts, ({ name }) => name, changed)
      replaced.clear()
      edits.clear()
      return { hosts, ...counts.names() }
    },
    size: () => hosts.length,
  }
}

/** Counts whose fragments there are, and to which clusters they send. */
const fragmentCounts = () => {
  const owners = tally()
  const clusters = tally()
  return {
    add: (fragment: Fragment): void => {
      owners.add(fragment.owner)
      fragment.clusters.forEach(clusters.add)
    },
    drop: (fragment: Fragment): void => {
      owners.drop(fragment.owner)
      fragment.clusters.forEach(clusters.drop)
    },
    names: (): Pick<ShelfContents, 'owners' | 'clusters'> => ({
      owners: owners.names(),
      clusters: clusters.names(),
    }),
  }
}

const editedHosts = (
  hosts: ReadonlyArray<TableHost>,
  edits: ReadonlyMap<string, ReadonlyMap<string, Fragment | undefined>>,
): ReadonlyMap<string, TableHost | undefined> => {
  const changed = new Map<string, TableHost | undefined>()
  for (const [name, own] of edits) {
    const before = findSorted(hosts, (host) => compareStrings(host.name, name))
    const fragments = edited(before?.fragments ?? [], ({ sortKey }) => sortKey, own)
    changed.set(name, hostAfter(before, name, fragments))
  }
  return changed
}

/** A host without fragments is none. */
const hostAfter = (
  before: TableHost | undefined,
  name: string,
  fragments: ReadonlyArray<Fragment>,
): TableHost | undefined => {
  if (fragments.length === 0) return undefined
  return before === undefined ? tableHostOf(name, fragments) : changedHost(before, fragments)
}

/**
 * What stands on a shelf of hosts with a wildcard and on one of exact hosts: an asterisk comes before all that a name
 * can begin with. The very same lists as the latter's where there is nothing on the former.
 */
export const together = (wildcards: ShelfContents, exact: ShelfContents): ShelfContents =>
  wildcards.hosts.length === 0
    ? exact
    : {
        hosts: [...wildcards.hosts, ...exact.hosts],
        owners: sortedStrings([...wildcards.owners, ...exact.owners]),
        clusters: sortedStrings([...wildcards.clusters, ...exact.clusters]),
      }
