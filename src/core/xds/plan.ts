import { formsIn } from '../compose.js'
import * as PM from '../persistent-map.js'
import type { Resources } from '../snapshot.js'
import { clusterType, endpointType, type TypeUrl } from '../type-url.js'
import { put } from './advance.js'
import { isCertain, lastAccepted } from './holding.js'
import { noEndpoints } from './linger.js'
import type { NodeMemory } from './node-memory.js'
import {
  type Conviction,
  keyOf,
  resourceKey,
  type Search,
  type Standing,
  suspectsOf,
  type Unit,
} from './search.js'
import { covers } from './subscription.js'
import type { Watch } from './watch.js'

/** What is tried; nothing, of a response that is no trial. */
export type Trial = ReadonlyArray<Unit>

export const noTrial: Trial = []

/** True as long as the goal has the unit in this very form; an object, in a table that the client asks for. */
export const isCurrent =
  (goal: Resources, { subscription }: Pick<Watch, 'subscription'>) =>
  ({ kind, name, version }: Unit): boolean =>
    kind === 'Resource'
      ? PM.get(goal, name)?.version === version
      : [...PM.entries(goal)].some(
          (table) => covers(subscription, table.name) && formsIn(table).get(name) === version,
        )

/**
 * What a client is to hold of a type whose resources are refused one by one: the goal, with the form that
 * it has accepted last in the place of each that it refuses, or may be about to. Of those `isNeeded`, what has no
 * such form stays, as long as something else may be to blame.
 */
export const planResources = (
  { holding, search, subscription }: Watch,
  typeUrl: TypeUrl,
  goal: Resources,
  isNeeded: (name: string) => boolean = () => false,
): Resources => {
  const spared = sparedBy(search, isNeeded)
  return barredUnits(search)
    .filter(isCurrent(goal, { subscription }))
    .reduce((target, unit) => {
      const accepted = lastAccepted(holding, unit.name)
      // What it has accepted once it is not made to lose for a refusal.
      if (accepted?.version === unit.version) return target
      if (accepted === undefined && spared.has(unit.name)) return target
      const isConvicted = search.convicted.has(keyOf(unit))
      const isAwaited = typeUrl === endpointType && isConvicted
      const instead = accepted ?? (isAwaited ? noEndpoints(unit.name) : undefined)
      return put(target, unit.name, instead)
    }, goal)
}

/** Suspects that are needed, save those of a guilty group that has no others: somebody must go. */
const sparedBy = (
  { groups, convicted }: Search,
  isNeeded: (name: string) => boolean,
): ReadonlySet<string> =>
  new Set(
    groups.flatMap(({ units, isGuilty }) => {
      const needed = units.filter((unit) => !convicted.has(keyOf(unit)) && isNeeded(unit.name))
      return isGuilty && needed.length === units.length ? [] : needed.map(({ name }) => name)
    }),
  )

/** Everything that is not to be sent but in a trial. */
export const barredUnits = ({ groups, convicted }: Search): ReadonlyArray<Unit> =>
  groups.length === 0 && convicted.size === 0
    ? []
    : [...suspectsOf({ groups }), ...[...convicted.values()].map(({ unit }) => unit)]

/** True while clusters under suspicion, or convicted, are still to be taken out: nothing new comes before that. */
export const isPurging = ({ search, sent }: Watch): boolean =>
  search.groups.length > 0 ||
  [...search.convicted.values()].some(
    ({ unit }) => PM.get(sent, unit.name)?.version === unit.version,
  )

/** What a trial is to find out: what was sent before, and nothing new but what is tried. */
export const tryResources = ({ sent }: Watch, goal: Resources, trial: Trial): Resources =>
  trial.reduce((target, { name }) => put(target, name, PM.get(goal, name)), sent)

/** The clusters that a client is to hold, and of which it has not said that they are ready. */
export interface Unready {
  /** They may be ready at any moment. */
  readonly pending: ReadonlySet<string>
  /** Those of them that it has in an older form, for certain, and keeps until they are. */
  readonly kept: ReadonlySet<string>
  /** They are not sent, since the client refuses them. */
  readonly refused: ReadonlySet<string>
  /** All that it is to hold; `undefined` of a client that has its own. */
  readonly clusters: Resources | undefined
}

export const allReady = (clusters: Resources | undefined): Unready => ({
  pending: new Set(),
  kept: new Set(),
  refused: new Set(),
  clusters,
})

/** Costs O(d log n) where d clusters are not ready. */
export const unreadyClusters = (watch: Watch, goal: Resources): Unready => {
  const { holding, sent, subscription, search, inFlight } = watch
  if (
    holding.acked === goal &&
    sent === goal &&
    holding.unsure === undefined &&
    inFlight.length === 0
  )
    return allReady(goal)
  const names = new Set<string>()
  const gone = new Set<string>()
  // What is on its way to be taken out is not there, whatever was said before.
  for (const { target } of inFlight)
    for (const { name, after } of PM.diff(target, goal)) if (after !== undefined) gone.add(name)
  for (const name of gone) names.add(name)
  for (const map of [holding.acked, sent])
    for (const { name, after } of PM.diff(map, goal)) if (after !== undefined) names.add(name)
  for (const { name } of PM.entries(holding.unsure))
    if (PM.get(goal, name) !== undefined) names.add(name)
  const pending = new Set<string>()
  const kept = new Set<string>()
  const refused = new Set<string>()
  for (const name of names) {
    if (!covers(subscription, name)) continue
    const resource = PM.get(goal, name)
    if (resource === undefined) continue
    const conviction = search.convicted.get(resourceKey(name))
    const isConvicted = conviction?.unit.version === resource.version
    // Of a client that says nothing at all nobody knows that it refuses anything.
    if (isConvicted && conviction.evidence.kind !== 'Silent') refused.add(name)
    else if (
      gone.has(name) ||
      !isCertain(holding, resource) ||
      PM.get(sent, name)?.version !== resource.version
    ) {
      pending.add(name)
      if (hasInSomeForm(holding, name) && !gone.has(name) && PM.get(sent, name) !== undefined)
        kept.add(name)
    }
  }
  return { pending, kept, refused, clusters: goal }
}

/**
 * True of what it has accepted, be it on an earlier stream that it goes on from, and keeps: it was sent nothing of it
 * since, or another form. Of what it asks for anew, or was told to be gone, nobody knows.
 */
const hasInSomeForm = ({ acked, unsure }: Watch['holding'], name: string): boolean => {
  const entry = PM.get(unsure, name)
  const accepted = PM.get(acked, name)
  return (
    accepted !== undefined &&
    (entry === undefined || (entry.accepted === accepted && entry.forms.length > 0))
  )
}

/**
 * The same of a client that has not asked for clusters on this stream. An Envoy does so late while a
 * cluster warms: then what it had accepted before is all that is sure. A client of another kind asks for its
 * clusters by the tables that it gets.
 */
export const unreadyBefore = (
  memory: NodeMemory | undefined,
  isEnvoy: boolean,
  goal: Resources,
): Unready => {
  if (memory === undefined && !isEnvoy) return allReady(undefined)
  const doubts = memory?.doubts[clusterType]
  // What others with its id have accepted, it may not have.
  const accepted = memory?.isShared === true ? undefined : memory?.accepted[clusterType]
  const pending = new Set<string>()
  for (const { name, after } of PM.diff(accepted, goal)) if (after !== undefined) pending.add(name)
  for (const { name } of PM.entries(doubts)) pending.add(name)
  return { pending, kept: new Set(), refused: new Set(), clusters: goal }
}

/** True of what is to be tried as long as it is wanted, and was not accepted yet. */
export const isOpenQuestion =
  (goal: Resources, watch: Watch) =>
  (unit: Unit): boolean =>
    isCurrent(goal, watch)(unit) && !isAccepted(watch, unit)

/** What a conviction is worth: nothing once the client has accepted what it refused. */
export const standingIn =
  (goal: Resources, watch: Watch) =>
  ({ unit }: Conviction): Standing => {
    if (isAccepted(watch, unit)) return 'Void'
    return isCurrent(goal, watch)(unit) ? 'Current' : 'Past'
  }

const isAccepted = ({ holding, subscription }: Watch, { kind, name, version }: Unit): boolean =>
  kind === 'Resource'
    ? isCertain(holding, { name, version })
    : kind === 'Owner' &&
      [...PM.entries(holding.acked)].some(
        (table) =>
          covers(subscription, table.name) &&
          isCertain(holding, table) &&
          formsIn(table).get(name) === version,
      )
