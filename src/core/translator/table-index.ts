import type { HttpListener } from '../context.js'
import { compareStrings } from '../order.js'
import {
  clusterRefs,
  type Fragment,
  type Ref,
  type Resource,
  type TableHost,
  tableResourceOf,
} from '../resource.js'
import { isSameForm, isWildcard, shardOf, shardTable, type TableForm } from '../table-form.js'
import { tableHeadOf } from '../translate/route-tables.js'
import { type HostChange, type Shelf, type ShelfContents, shelfOf, together } from './shelf.js'

/** The fragments of a data plane, and the tables that they make. */
export interface TableIndex {
  readonly put: (fragment: Fragment) => void
  readonly drop: (fragment: Fragment) => void
  /** Puts a host in the place of the one of its name, as it is. */
  readonly replace: (change: HostChange) => void
  /**
   * The tables that are others than when this was last asked, by name, in this form from now on; `undefined` for
   * those that are gone.
   */
  readonly changed: (form: TableForm) => ReadonlyMap<string, Resource | undefined>
  /** How many virtual hosts there were when `changed` was last asked. */
  readonly size: () => number
}

/**
 * Begins with empty tables in this form, which `changed` gives when it is first asked.
 *
 * A change costs what `shelfOf` says, for each table that it touches; another form a look at every fragment, but
 * hosts keep their digests and their bytes.
 */
export const tableIndex = (
  listeners: ReadonlyArray<Pick<HttpListener, 'name'>>,
  first: TableForm,
): TableIndex => {
  let inForce = first
  let shelves = shelvesOf(planOf(listeners, first), [])
  return {
    put: (fragment) => shelves.put(fragment),
    drop: (fragment) => shelves.drop(fragment),
    replace: (change) => shelves.replace(change),
    size: () => shelves.size(),
    changed: (form) => {
      if (isSameForm(form, inForce)) return shelves.changed()
      const gone = planOf(listeners, inForce).tables.flat()
      inForce = form
      shelves = shelvesOf(planOf(listeners, form), shelves.hosts())
      return new Map([...gone.map((name) => [name, undefined] as const), ...shelves.changed()])
    },
  }
}

/** A form as shelves: each has the hosts of some tables. */
interface Plan {
  /** The names of the tables of each shelf. */
  readonly tables: ReadonlyArray<ReadonlyArray<string>>
  /** On which of them a host stands; `undefined`: on all. */
  readonly placeOf: (host: string) => number | undefined
}

const planOf = (listeners: ReadonlyArray<Pick<HttpListener, 'name'>>, form: TableForm): Plan => {
  switch (form._tag) {
    case 'Whole':
      return { tables: [listeners.map(({ name }) => name)], placeOf: () => 0 }
    case 'Sharded': {
      const { shards } = form
      return {
        tables: Array.from({ length: shards }, (_, shard) => [shardTable(shards, shard)]),
        placeOf: (host) => (isWildcard(host) ? undefined : shardOf(host, shards)),
      }
    }
  }
}

interface Shelves extends Pick<TableIndex, 'put' | 'drop' | 'replace' | 'size'> {
  readonly changed: () => ReadonlyMap<string, Resource>
  /** In the order of their names. */
  readonly hosts: () => ReadonlyArray<TableHost>
}

/** Begins with these hosts. All of its tables count as changed when that is first asked. */
const shelvesOf = ({ tables, placeOf }: Plan, first: ReadonlyArray<TableHost>): Shelves => {
  const given = hostsByPlace(first, placeOf)
  const everywhere = shelfOf(given.get(undefined) ?? [])
  const shelves = tables.map((names, place) => tableShelf(names, given.get(place) ?? []))
  const touched = new Set<number>()
  let areAllTouched = true
  const shelfFor = (host: string): Shelf => {
    const place = placeOf(host)
    if (place === undefined) areAllTouched = true
    else touched.add(place)
    return (place === undefined ? undefined : shelves[place]) ?? everywhere
  }
  return {
    put: (fragment) => shelfFor(fragment.virtualHost).put(fragment),
    drop: (fragment) => shelfFor(fragment.virtualHost).drop(fragment),
    replace: (change) => shelfFor(change.name).replace(change),
    size: () => shelves.reduce((sum, shelf) => sum + shelf.size(), everywhere.size()),
    hosts: () =>
      [everywhere, ...shelves]
        .flatMap((shelf) => shelf.contents().hosts)
        .sort((a, b) => compareStrings(a.name, b.name)),
    changed: () => {
      const shared = everywhere.contents()
      const changed = areAllTouched ? shelves : shelves.filter((_, place) => touched.has(place))
      areAllTouched = false
      touched.clear()
      return new Map(changed.flatMap((shelf) => shelf.tables(shared)))
    },
  }
}

const hostsByPlace = (
  hosts: ReadonlyArray<TableHost>,
  placeOf: Plan['placeOf'],
): ReadonlyMap<number | undefined, ReadonlyArray<TableHost>> => {
  const byPlace = new Map<number | undefined, Array<TableHost>>()
  for (const host of hosts) {
    const place = placeOf(host.name)
    const others = byPlace.get(place)
    if (others === undefined) byPlace.set(place, [host])
    else others.push(host)
  }
  return byPlace
}

interface TableShelf extends Shelf {
  /** Its tables, by name: with its hosts, and with these, which stand everywhere. */
  readonly tables: (everywhere: ShelfContents) => ReadonlyArray<readonly [string, Resource]>
}

const tableShelf = (names: ReadonlyArray<string>, first: ReadonlyArray<TableHost>): TableShelf => {
  const shelf = shelfOf(first)
  const heads = names.map((name) => ({ name, head: tableHeadOf(name) }))
  const refsOf = refsToClusters()
  return {
    ...shelf,
    tables: (everywhere) => {
      const { hosts, owners, clusters } = together(everywhere, shelf.contents())
      const inside = { owners, refs: refsOf(clusters) }
      return heads.map(({ name, head }) => [
        name,
        tableResourceOf(name, { head, virtualHosts: hosts }, inside),
      ])
    },
  }
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
