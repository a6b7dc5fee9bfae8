import {
  changedOwners,
  compose,
  formsIn,
  type Overlay,
  ownersSendingTo,
  retire,
  standsIn,
  type Substitute,
} from '../compose.js'
import { derivedTable } from '../derive-tables.js'
import * as PM from '../persistent-map.js'
import { type Resource, tableHead, tableResource, type Uid } from '../resource.js'
import type { Resources, View } from '../snapshot.js'
import { listenerType, routeType } from '../type-url.js'
import { type Aim, nothingWithheld, put } from './advance.js'
import { isCertain, lastAccepted } from './holding.js'
import { refersTo } from './linger.js'
import { eachName, type Names } from './names.js'
import { barredUnits, type Trial, type Unready } from './plan.js'
import { nobody, probe } from './probe.js'
import { isSearching, keyOf, suspectsOf, type Unit } from './search.js'
import { covers } from './subscription.js'
import type { Watch } from './watch.js'

/**
 * What a client is to hold of its route tables.
 *
 * Each table of the goal, composed: with the previous form of what waits for its clusters or is under suspicion,
 * with the last accepted form, or a 503, of what was refused. A table that the client asks for and that
 * is published no more stays, with what is left of it. A first table waits for its clusters: what the client
 * holds in its place may be better.
 */
export const planTables = (watch: Watch, goal: View, unready: Unready): Aim => {
  const withheld = new Set<string>()
  let target = withRetired(watch, goal)
  const isPlain =
    unready.pending.size === 0 &&
    unready.refused.size === 0 &&
    !isSearching(watch.search) &&
    watch.search.convicted.size === 0
  if (isPlain) return { target, withheld: nothingWithheld }
  if (isSearching(watch.search))
    for (const { name } of tablesToProbe(watch, target)) withheld.add(name)
  const touched = barredUnits(watch.search).length > 0 ? undefined : tablesNaming(target, unready)
  for (const table of touched ?? PM.entries(target)) {
    if (!covers(watch.subscription, table.name) || withheld.has(table.name)) continue
    const planned = planTable(watch, table, unready)
    if (planned === undefined) withheld.add(table.name)
    else target = PM.set(target, planned)
  }
  return { target, withheld }
}

/**
 * The tables that send traffic to clusters which are not ready: as long as nothing is under suspicion, or refused, all
 * others stand as they are. Read once from the same tables, for as long as these are held.
 */
const tablesNaming = (tables: Resources, { pending, refused }: Unready): ReadonlySet<Resource> => {
  if (tables === undefined) return new Set()
  const known = naming.get(tables) ?? new Map<string, ReadonlyArray<Resource>>()
  naming.set(tables, known)
  const all = new Set<Resource>()
  for (const cluster of [...pending, ...refused]) {
    const own =
      known.get(cluster) ?? [...PM.entries(tables)].filter(({ refs }) => refersTo(refs, cluster))
    known.set(cluster, own)
    for (const table of own) all.add(table)
  }
  return all
}

const naming = new WeakMap<NonNullable<Resources>, Map<string, ReadonlyArray<Resource>>>()

/**
 * What a trial is to find out: the tables as the client has accepted them, and nothing new but what is tried.
 *
 * Of a table of which nobody knows what the client has in its place a probe is sent, and nothing else.
 */
export const tryTables = (watch: Watch, goal: View, { pending }: Unready, trial: Trial): Aim => {
  const tables = withRetired(watch, goal)
  const unknown = tablesToProbe(watch, tables)
  const probed = unknown.find((table) => trial.some((unit) => hasForm(table, unit)))
  if (probed !== undefined)
    return {
      target: PM.set(tables, probe(probed, [...takenIn(watch, probed), ...trial])),
      withheld: new Set([...namesOf(tables)].filter((name) => name !== probed.name)),
      isProbe: true,
    }
  const withheld = new Set(unknown.map(({ name }) => name))
  let target = watch.sent
  for (const table of PM.entries(tables))
    if (covers(watch.subscription, table.name) && !withheld.has(table.name))
      target = put(target, table.name, tryTable(watch, table, pending, trial))
  return { target, withheld }
}

/** A probe leaves nothing behind: what earlier ones have found to be taken stands in the next one too. */
const takenIn = ({ search }: Watch, table: Resource): Trial =>
  search.taken.filter((unit) => hasForm(table, unit))

/**
 * Which units a trial may speak of: where a probe is due, those in one table. Of several tables in a response an
 * Envoy may refuse the first, and look at no other.
 */
export const triedTogether = (
  watch: Watch,
  tables: Resources,
  trial: Trial,
): ((unit: Unit) => boolean) => {
  const probed = tablesToProbe(watch, tables).find((table) =>
    trial.some((unit) => hasForm(table, unit)),
  )
  return (unit) => probed === undefined || hasForm(probed, unit)
}

const hasForm = (table: Resource, { kind, name, version }: Unit): boolean =>
  kind !== 'Resource' && formsIn(table).get(name) === version

const tryTable = (
  { holding }: Watch,
  table: Resource,
  pending: ReadonlySet<string>,
  trial: Trial,
): Resource | undefined => {
  const base = lastAccepted(holding, table.name)
  const tried = new Map(trial.map(({ kind, name }) => [name, kind]))
  if (table.content._tag === 'Bytes') return tried.get(table.name) === 'Resource' ? table : base
  if (tried.get(table.name) === 'Resource') return table
  const overlay = new Map<Uid, Substitute>()
  for (const uid of changedOwners(base, table)) {
    if (uid === nobody) continue
    const kind = tried.get(uid)
    if (kind === undefined) overlay.set(uid, 'Previous')
    if (kind === 'Claims') overlay.set(uid, 'Unavailable')
  }
  for (const uid of ownersSendingTo(table, pending)) overlay.set(uid, 'Previous')
  return compose(table, base, overlay)
}

/** The tables of the goal, and those that are published no more, or in another form, but that the client asks for. */
export const withRetired = (watch: Watch, goal: View): Resources => {
  const { sent, subscription, holding, emptiesUnknown } = watch
  const derived = withDerived(subscription.names, goal)
  let target = derived.target
  for (const name of derived.others) {
    const held = PM.get(sent, name) ?? lastAccepted(holding, name)
    if (held !== undefined) target = PM.set(target, retire(held, goal[routeType]))
    else if (emptiesUnknown && PM.get(holding.unsure, name)?.isUnknown === true)
      target = PM.set(target, emptyTable(name))
  }
  return target
}

/** What all who ask for the same names are to hold. */
interface Derived {
  readonly listeners: Resources
  readonly published: Resources
  /** What is published, and what can be derived of it. */
  readonly target: Resources
  /** The names that are neither. */
  readonly others: ReadonlyArray<string>
}

/** Kept with the names, as long as the same is published: a fleet asks for the same. */
const withDerived = (names: Names, goal: View): Derived => {
  const { [listenerType]: listeners, [routeType]: published } = goal
  if (names === undefined) return { listeners, published, target: published, others: [] }
  const known = derivedOf.get(names)
  if (known !== undefined && known.published === published && known.listeners === listeners)
    return known
  const missing = [...eachName(names)].filter((name) => PM.get(published, name) === undefined)
  let target = published
  const others: Array<string> = []
  for (const name of missing) {
    const derived = derivedTable(name, goal)
    if (derived === undefined) others.push(name)
    else target = PM.set(target, derived)
  }
  const made = { listeners, published, target, others }
  derivedOf.set(names, made)
  return made
}

const derivedOf = new WeakMap<NonNullable<Names>, Derived>()

const emptyTable = (name: string): Resource =>
  tableResource(name, { head: tableHead({ name }), virtualHosts: [] })

/** Those of which nobody knows what the client has in their place. */
const tablesToProbe = (
  { holding, subscription }: Watch,
  tables: Resources,
): ReadonlyArray<Resource> =>
  [...PM.entries(tables)].filter(
    ({ name, content }) =>
      content._tag === 'Table' && covers(subscription, name) && isUnclear(holding, name),
  )

/** It had a table before anybody took notes, or was sent one that nobody knows whether it has. */
const isUnclear = (holding: Watch['holding'], name: string): boolean => {
  const entry = PM.get(holding.unsure, name)
  if (entry === undefined) return false
  const isUnknown = entry.isUnknown && entry.accepted === undefined
  return isUnknown || (!entry.isAtomic && entry.forms.length > 0)
}

const namesOf = (tables: Resources): ReadonlySet<string> =>
  new Set([...PM.entries(tables)].map(({ name }) => name))

/** `undefined` where nothing can be sent yet. */
const planTable = (
  { holding, search }: Watch,
  table: Resource,
  unready: Unready,
): Resource | undefined => {
  const base = usableBase(holding, table.name, unready)
  const whole: Unit = { kind: 'Resource', name: table.name, version: table.version }
  const isBarred = barredUnits(search).some(
    (unit) => keyOf(unit) === keyOf(whole) && unit.version === whole.version,
  )
  const names = (clusters: ReadonlySet<string>): boolean =>
    [...clusters].some((name) => refersTo(table.refs, name))
  const waits = names(unready.pending)
  if (table.content._tag === 'Bytes')
    return isBarred || waits || names(unready.refused) ? base : table
  if (isBarred || (base === undefined && waits)) return base
  // What it may serve from a table whose answer was lost is not in the base: it waits for its clusters, too.
  if (waits && mayServeMore(holding, table, base, unready)) return undefined
  return compose(table, base, overlayOf(search, table, base, unready))
}

/** True if the client may serve an object that waits for its clusters from a form which is not the base. */
const mayServeMore = (
  holding: Watch['holding'],
  table: Resource,
  base: Resource | undefined,
  { pending }: Unready,
): boolean => {
  const entry = PM.get(holding.unsure, table.name)
  if (entry === undefined || entry.isAtomic) return false
  return [...ownersSendingTo(table, pending)].some(
    (uid) =>
      !(base !== undefined && standsIn(base, uid)) &&
      entry.forms.some((form) => standsIn(form, uid)),
  )
}

/**
 * The table that previous forms are taken from: what the client has accepted. What it accepted on an earlier
 * stream names clusters of that time, which it may not have any more: then there is none.
 */
const usableBase = (
  holding: Watch['holding'],
  name: string,
  { pending, kept, refused, clusters }: Unready,
): Resource | undefined => {
  const base = lastAccepted(holding, name)
  if (base === undefined || clusters === undefined || isCertain(holding, base)) return base
  const isThere = (cluster: string): boolean =>
    PM.get(clusters, cluster) !== undefined &&
    (!pending.has(cluster) || kept.has(cluster)) &&
    !refused.has(cluster)
  return base.refs.every((ref) => isThere(ref.name)) ? base : undefined
}

const overlayOf = (
  search: Watch['search'],
  table: Resource,
  base: Resource | undefined,
  { pending, refused }: Unready,
): Overlay => {
  const overlay = new Map<Uid, Substitute>()
  const forms = formsIn(table)
  const previousOr = (uid: Uid, otherwise: Substitute): Substitute =>
    base !== undefined && standsIn(base, uid) && formsIn(base).get(uid) !== forms.get(uid)
      ? 'Previous'
      : otherwise
  if (pending.size > 0)
    for (const uid of ownersSendingTo(table, pending)) overlay.set(uid, 'Previous')
  if (refused.size > 0)
    for (const uid of ownersSendingTo(table, refused))
      overlay.set(uid, previousOr(uid, 'Unavailable'))
  for (const { kind, name } of suspectsOf(search))
    if (kind === 'Owner') overlay.set(name, 'Previous')
  for (const { unit } of search.convicted.values()) {
    if (unit.kind !== 'Owner' || forms.get(unit.name) !== unit.version) continue
    overlay.set(unit.name, previousOr(unit.name, 'Unavailable'))
  }
  for (const { kind, name } of barredUnits(search))
    if (kind === 'Claims' && overlay.get(name) === 'Unavailable') overlay.set(name, 'Absent')
  return overlay
}
