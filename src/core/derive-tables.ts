import * as PM from './persistent-map.js'
import type { Resource, TableHost } from './resource.js'
import type { Resources, View } from './snapshot.js'
import { sortedChanges } from './sorted-changes.js'
import { isSameForm, shardNamed, type TableForm, wholeForm } from './table-form.js'
import type { HostChange } from './translator/shelf.js'
import { type TableIndex, tableIndex } from './translator/table-index.js'
import { listenerType, routeType } from './type-url.js'

/**
 * The table of this name as another form of the data plane would have it, byte for byte: of a listener while its
 * tables are in shards, or of a shard of any number while they are not, or are in so many others. `undefined`
 * for every other name, and where there is no listener or no table.
 *
 * An Envoy goes on asking for such tables as long as it drains a listener of another form. To its connections the
 * form must make no difference, so they get what is new too.
 *
 * The first table of a form costs a look at everything; from then on a change of what is published costs what it would
 * cost a translator in that form, and finding it: a look at each host of each table that has changed.
 */
export const derivedTable = (
  name: string,
  published: Pick<View, typeof listenerType | typeof routeType>,
): Resource | undefined => {
  const { [listenerType]: listeners, [routeType]: tables } = published
  if (listeners === undefined || tables === undefined) return undefined
  const form = formOf(name, listeners, tables)
  return form && derivationOf(form, listeners, tables).tablesOf(tables).get(name)
}

type Some = NonNullable<Resources>

/** The form that has a table of this name. */
const formOf = (name: string, listeners: Some, tables: Some): TableForm | undefined => {
  const place = shardNamed(name)
  if (place !== undefined) return { _tag: 'Sharded', shards: place.shards }
  // Of tables that somebody else has put together none is derived for a listener: they may mean anything.
  const areShards = shardNamed(tables.entry.name) !== undefined
  return areShards && PM.get(listeners, name) !== undefined ? wholeForm : undefined
}

/** What is published, in another form. */
interface Derivation {
  readonly form: TableForm
  readonly tablesOf: (published: Some) => ReadonlyMap<string, Resource>
}

/**
 * How many forms are kept up for a data plane. Its Envoys drain the one before, as a rule; others come back with one
 * that an earlier configuration had.
 */
const keptForms = 4

/** What was derived of these tables. It is kept as long as they are published, and no longer. */
const derivations = new WeakMap<Some, ReadonlyArray<Derivation>>()

/** The tables of a data plane that were asked about last, by its listeners: what was derived of them goes on. */
const lastAsked = new WeakMap<Some, WeakRef<Some>>()

const derivationOf = (form: TableForm, listeners: Some, tables: Some): Derivation => {
  const last = lastAsked.get(listeners)?.deref() ?? tables
  const known = derivations.get(last) ?? []
  const hit = known.find((each) => isSameForm(each.form, form))
  if (hit !== undefined && last === tables) return hit
  const made = hit ?? derivation([...PM.entries(listeners)], form)
  derivations.delete(last)
  derivations.set(tables, hit === undefined ? [made, ...known].slice(0, keptForms) : known)
  lastAsked.set(listeners, new WeakRef(tables))
  return made
}

const derivation = (listeners: ReadonlyArray<Resource>, form: TableForm): Derivation => {
  const index: TableIndex = tableIndex(listeners, form)
  const tables = new Map<string, Resource>()
  let last: Resources
  return {
    form,
    tablesOf: (published) => {
      if (published === last) return tables
      for (const change of hostChanges(last, published)) index.replace(change)
      last = published
      for (const [name, table] of index.changed(form))
        if (table !== undefined) tables.set(name, table)
      return tables
    },
  }
}

/** Each once, however many tables it stands in: the hosts of one name are the very same in all. */
const hostChanges = (before: Resources, after: Resources): Iterable<HostChange> => {
  const changes = new Map<string, HostChange>()
  for (const table of PM.changes(before, after))
    for (const host of sortedChanges(hostsOf(table.before), hostsOf(table.after), nameOf)) {
      const name = (host.after ?? host.before)?.name
      if (name !== undefined) changes.set(name, { name, ...host })
    }
  return changes.values()
}

const hostsOf = (table: Resource | undefined): ReadonlyArray<TableHost> =>
  table?.content._tag === 'Table' ? table.content.table.virtualHosts : []

const nameOf = ({ name }: TableHost): string => name
