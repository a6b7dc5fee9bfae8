import { compose, formsIn, type Overlay, ownersSendingTo, ownsIn, retire, type Substitute } from '../compose.js'
import * as PM from '../persistent-map.js'
import type { Resource, Uid } from '../resource.js'
import type { Resources } from '../snapshot.js'
import { endpointType, type TypeUrl } from '../type-url.js'
import { type Aim, nothingWithheld, put } from './advance.js'
import { isCertain, lastAccepted } from './holding.js'
import { noEndpoints, refersTo } from './linger.js'
import { hasName } from './names.js'
import { concerns, probe } from './probe.js'
import { type Conviction, isSearching, keyOf, suspectsOf, type Unit } from './search.js'
import { covers } from './subscription.js'
import type { Watch } from './watch.js'

/** What is tried; nothing, of a response that is no trial. */
export type Trial = ReadonlyArray<Unit>

export const noTrial: Trial = []

/** True as long as the goal has the unit in this very form. */
export const isCurrent =
  (goal: Resources) =>
  ({ kind, name, version }: Unit): boolean =>
    kind === 'Resource'
      ? PM.get(goal, name)?.version === version
      : [...PM.entries(goal)].some((table) => formsIn(table).get(name) === version)

/**
 * What a client is to hold of a type whose resources are refused one by one: the goal, with the form that
 * it has accepted last in the place of each that it refuses, or may be about to.
 */
export const planResources = (
  { holding, search }: Watch,
  typeUrl: TypeUrl,
  goal: Resources,
  trial: Trial,
): Resources =>
  barredUnits(search, trial)
    .filter(isCurrent(goal))
    .reduce((target, unit) => {
      const accepted = lastAccepted(holding, unit.name)
      const previous = accepted?.version === unit.version ? undefined : accepted
      const instead = previous ?? (typeUrl === endpointType ? noEndpoints(unit.name) : undefined)
      return put(target, unit.name, instead)
    }, goal)

const barredUnits = ({ groups, convicted }: Watch['search'], trial: Trial): ReadonlyArray<Unit> => {
  if (groups.length === 0 && convicted.size === 0) return []
  const tried = new Set(trial.map(keyOf))
  const suspects = suspectsOf({ groups })
  const units = [...suspects, ...[...convicted.values()].map(({ unit }) => unit)]
  return units.filter((unit) => !tried.has(keyOf(unit)))
}

/** The clusters that a client is to hold, and of which it has not said that they are ready. */
export interface Unready {
  /** They may be ready at any moment. */
  readonly pending: ReadonlySet<string>
  /** They are not sent, since the client refuses them. */
  readonly refused: ReadonlySet<string>
}

export const allReady: Unready = { pending: new Set(), refused: new Set() }

/** Costs O(d log n) where d clusters are not ready. A client that asks for no clusters has its own. */
export const unreadyClusters = (watch: Watch | undefined, goal: Resources): Unready => {
  if (watch === undefined) return allReady
  const { holding, sent, subscription, search } = watch
  if (holding.acked === goal && sent === goal && holding.unsure === undefined) return allReady
  const names = new Set<string>()
  for (const map of [holding.acked, sent])
    for (const { name, after } of PM.diff(map, goal)) if (after !== undefined) names.add(name)
  for (const { name } of PM.entries(holding.unsure))
    if (PM.get(goal, name) !== undefined) names.add(name)
  const pending = new Set<string>()
  const refused = new Set<string>()
  for (const name of names) {
    if (!covers(subscription, name)) continue
    const resource = PM.get(goal, name)
    if (resource === undefined) continue
    const conviction = search.convicted.get(keyOf({ kind: 'Resource', name }))
    if (conviction?.unit.version === resource.version) refused.add(name)
    else if (!isCertain(holding, resource) || PM.get(sent, name)?.version !== resource.version)
      pending.add(name)
  }
  return { pending, refused }
}

/**
 * What a client is to hold of its route tables.
 *
 * Each table of the goal, composed: with the previous form of what waits for its clusters or is under suspicion,
 * with the last accepted form, or a 503, of what was refused. A table that the client asks for and that
 * is published no more stays, with what is left of it. A first table waits for its clusters: what the client
 * holds in its place may be better.
 */
export const planTables = (
  watch: Watch,
  goal: Resources,
  unready: Unready,
  trial: Trial,
): Aim => {
  const withheld = new Set<string>()
  let target = goal
  for (const { name, before, after } of PM.diff(watch.sent, goal))
    if (before !== undefined && after === undefined && hasName(watch.subscription.names, name))
      target = PM.set(target, retire(before, PM.entries(goal)))
  const isPlain =
    unready.pending.size === 0 &&
    unready.refused.size === 0 &&
    !isSearching(watch.search) &&
    watch.search.convicted.size === 0
  if (isPlain) return { target, withheld: nothingWithheld }
  const probed = isSearching(watch.search) ? firstToProbe(watch, target, trial) : undefined
  if (probed !== undefined) return aimProbe(target, probed, trial)
  for (const table of PM.entries(target)) {
    if (!covers(watch.subscription, table.name)) continue
    const planned = planTable(watch, table, unready, trial)
    if (planned === undefined) withheld.add(table.name)
    else target = PM.set(target, planned)
  }
  return { target, withheld }
}

/**
 * While the search goes on, the first table of which nobody knows what the client has in its place: nothing is
 * sent but probes then.
 */
const firstToProbe = (
  { holding, subscription }: Watch,
  tables: Resources,
  trial: Trial,
): Resource | undefined => {
  const unknown = [...PM.entries(tables)].filter(
    ({ name, content }) =>
      content._tag === 'Table' &&
      covers(subscription, name) &&
      lastAccepted(holding, name) === undefined &&
      PM.get(holding.unsure, name)?.isUnknown === true,
  )
  return unknown.find((table) => concerns(table, trial)) ?? unknown[0]
}

const aimProbe = (tables: Resources, probed: Resource, trial: Trial): Aim => {
  const names = [...PM.entries(tables)].map(({ name }) => name)
  if (!concerns(probed, trial)) return { target: tables, withheld: new Set(names) }
  return {
    target: PM.set(tables, probe(probed, trial)),
    withheld: new Set(names.filter((name) => name !== probed.name)),
    isProbe: true,
  }
}

/** `undefined` where nothing can be sent yet. */
const planTable = (
  { holding, search }: Watch,
  table: Resource,
  unready: Unready,
  trial: Trial,
): Resource | undefined => {
  const base = lastAccepted(holding, table.name)
  const whole: Unit = { kind: 'Resource', name: table.name, version: table.version }
  const isBarred = barredUnits(search, trial).some(
    (unit) => keyOf(unit) === keyOf(whole) && unit.version === whole.version,
  )
  const names = (clusters: ReadonlySet<string>): boolean =>
    [...clusters].some((name) => refersTo(table.refs, name))
  const waits = names(unready.pending)
  if (table.content._tag === 'Bytes')
    return isBarred || waits || names(unready.refused) ? base : table
  if (isBarred || (base === undefined && waits)) return base
  return compose(table, base, overlayOf(search, table, base, unready, trial))
}

const overlayOf = (
  search: Watch['search'],
  table: Resource,
  base: Resource | undefined,
  { pending, refused }: Unready,
  trial: Trial,
): Overlay => {
  const overlay = new Map<Uid, Substitute>()
  const forms = formsIn(table)
  const tried = new Set(trial.map(keyOf))
  const previousOr = (uid: Uid, otherwise: Substitute): Substitute =>
    base !== undefined && ownsIn(base, uid) && formsIn(base).get(uid) !== forms.get(uid)
      ? 'Previous'
      : otherwise
  if (pending.size > 0)
    for (const uid of ownersSendingTo(table, (name) => pending.has(name)))
      overlay.set(uid, 'Previous')
  if (refused.size > 0)
    for (const uid of ownersSendingTo(table, (name) => refused.has(name)))
      overlay.set(uid, previousOr(uid, 'Unavailable'))
  for (const { kind, name } of suspectsOf(search))
    if (kind === 'Owner' && !tried.has(keyOf({ kind, name }))) overlay.set(name, 'Previous')
  for (const { unit } of search.convicted.values()) {
    if (unit.kind !== 'Owner' || forms.get(unit.name) !== unit.version) continue
    if (tried.has(keyOf(unit))) continue
    overlay.set(unit.name, previousOr(unit.name, 'Unavailable'))
  }
  for (const unit of claimsRefused(search, tried))
    if (overlay.get(unit.name) === 'Unavailable') overlay.set(unit.name, 'Absent')
  return overlay
}

/** Those whose claims alone were refused, or may be. */
const claimsRefused = (
  search: Watch['search'],
  tried: ReadonlySet<string>,
): ReadonlyArray<Unit> =>
  [...suspectsOf(search), ...[...search.convicted.values()].map(({ unit }) => unit)].filter(
    (unit) => unit.kind === 'Claims' && !tried.has(keyOf(unit)),
  )

/** True of what is convicted as long as it is what it was, and is still refused. */
export const isStillConvicted =
  (goal: Resources, watch: Watch) =>
  ({ unit }: Conviction): boolean =>
    isCurrent(goal)(unit) && !isAccepted(watch, unit)

const isAccepted = (
  { holding, subscription }: Watch,
  { kind, name, version }: Unit,
): boolean =>
  kind === 'Resource'
    ? isCertain(holding, { name, version })
    : kind === 'Owner' &&
      [...PM.entries(holding.acked)].some(
        (table) =>
          covers(subscription, table.name) &&
          isCertain(holding, table) &&
          formsIn(table).get(name) === version,
      )
