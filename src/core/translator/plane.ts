import type { DataPlane } from '../context.js'
import type { Digest } from '../digest.js'
import * as PM from '../persistent-map.js'
import type { Fragment, Resource, Uid } from '../resource.js'
import type { Rule, Target } from '../rule.js'
import { type View, view } from '../snapshot.js'
import { claimsOf, outcomeOf } from '../translate/claims.js'
import { targetsOf } from '../translate/clusters.js'
import type { Destinations } from '../translate/destinations.js'
import { listenersOf } from '../translate/listeners.js'
import { seniorityOf } from '../translate/precedence.js'
import { type Encoder, encoderOf } from '../translate/routes.js'
import { clusterType, endpointType, listenerType, routeType, type TypeUrl } from '../type-url.js'
import type { Acceptance } from '../verdict.js'
import { claimIndex, type Contender, type Turn } from './claim-index.js'
import { tableIndex } from './table-index.js'
import { targetIndex } from './target-index.js'

/** The rules of one data plane, and what its Envoys are to hold. */
export interface PlaneIndex {
  /** An object is there, with these rules. It must not be there already. */
  readonly enter: (uid: Uid, rules: ReadonlyArray<Rule>) => void
  /** An object has left, if it was there. */
  readonly leave: (uid: Uid) => void
  /** The endpoints of a Service may be others. */
  readonly look: (service: string) => void
  /** How an object fares against others; `undefined` if it is not there. */
  readonly outcome: (uid: Uid) => Acceptance | undefined
  /** Brings the view up to date. */
  readonly settle: () => Settled
}

export interface Settled {
  /** The very same as before where nothing has changed. */
  readonly view: View
  /** The objects that other words may have to be said of, beside those that have come. */
  readonly judged: ReadonlySet<Uid>
}

/** A rule at work. */
interface Standing {
  readonly rule: Rule
  readonly encode: Encoder
  readonly targets: ReadonlyArray<Target>
  /** How many claims it has got. */
  grants: number
  /** True while its targets are counted as used. */
  serves: boolean
}

interface Claimant extends Contender {
  readonly standing: Standing
}

interface Resident {
  readonly claimants: ReadonlyArray<Claimant>
  readonly targets: ReadonlyArray<Target>
}

/** Begins with no rules. What is touched between two calls of `settle` is paid for once. */
export const planeIndex = (
  { listeners }: Pick<DataPlane, 'listeners'>,
  destinations: Destinations,
): PlaneIndex => {
  const claims = claimIndex<Claimant>()
  const targets = targetIndex(destinations)
  const tables = tableIndex(listeners)
  const residents = new Map<Uid, Resident>()
  const live = new Map<Digest, Fragment>()
  let current = view({ [listenerType]: listenersOf(listeners) })
  const replace = ({ claim, after }: Turn<Claimant>): void => {
    const before = live.get(claim)
    const next = after?.standing.encode(after.made)
    if (before !== undefined && next !== undefined && isSameForm(before, next)) return
    if (before !== undefined) tables.drop(before)
    if (next !== undefined) {
      tables.put(next)
      live.set(claim, next)
    } else live.delete(claim)
  }
  const settleClaims = (): ReadonlySet<Uid> => {
    const judged = new Set<Uid>()
    const changed = new Set<Standing>()
    for (const turn of claims.turns()) {
      replace(turn)
      for (const uid of losers(turn)) judged.add(uid)
      count(changed, turn.before?.standing, -1)
      count(changed, turn.after?.standing, 1)
    }
    for (const standing of changed) {
      const { uid } = standing.rule.owner
      if (standing.serves === standing.grants > 0) continue
      standing.serves = !standing.serves
      if (standing.serves) targets.use(uid, standing.targets)
      else targets.release(uid, standing.targets)
    }
    return judged
  }
  return {
    enter: (uid, rules) => {
      const named = rules.flatMap(targetsOf)
      targets.name(uid, named)
      const claimants = claimantsOf(rules, targets.clusterName)
      claimants.forEach(claims.add)
      residents.set(uid, { claimants, targets: named })
    },
    leave: (uid) => {
      const resident = residents.get(uid)
      if (resident === undefined) return
      residents.delete(uid)
      resident.claimants.forEach(claims.remove)
      targets.unname(uid, resident.targets)
    },
    look: targets.look,
    outcome: (uid) => {
      const resident = residents.get(uid)
      const made = resident?.claimants.map((each) => each.made)
      return made && outcomeOf(made, ({ claim }) => claims.winnerOf(claim)?.made)
    },
    settle: () => {
      const judged = settleClaims()
      const changes = targets.changes()
      current = withResources(current, [
        [clusterType, changes.clusters],
        [endpointType, changes.assignments],
        [routeType, new Map((tables.changed() ?? []).map((table) => [table.name, table]))],
      ])
      return { view: current, judged: new Set([...judged, ...changes.judged]) }
    },
  }
}

/** The claims of an object, in their order. */
const claimantsOf = (
  rules: ReadonlyArray<Rule>,
  clusterName: (target: Target) => string,
): ReadonlyArray<Claimant> => {
  const made = rules.flatMap((rule) => {
    const standing = {
      rule,
      encode: encoderOf(rule, clusterName),
      targets: targetsOf(rule),
      grants: 0,
      serves: false,
    }
    const rank = seniorityOf(rule.owner)
    return claimsOf(rule).map((claim) => ({ made: claim, rank, standing }))
  })
  return made.map((each, place) => ({ ...each, place }))
}

const count = (changed: Set<Standing>, standing: Standing | undefined, by: 1 | -1): void => {
  if (standing === undefined) return
  standing.grants += by
  changed.add(standing)
}

/** Those who hear that a claim belongs to another object than before. */
const losers = ({ before, after, contenders }: Turn<Claimant>): ReadonlyArray<Uid> =>
  before !== undefined && after !== undefined && isSameOwner(before.made.rule, after.made.rule)
    ? []
    : contenders.map(({ made }) => made.rule.owner.uid)

const isSameOwner = ({ owner: a }: Rule, { owner: b }: Rule): boolean =>
  a.uid === b.uid && a.key.namespace === b.key.namespace && a.key.name === b.key.name

/** Of one claim: the same object has it, in the same place and with the same bytes. */
const isSameForm = (a: Fragment, b: Fragment): boolean =>
  a.version === b.version && a.owner === b.owner && a.sortKey === b.sortKey

const withResources = (
  before: View,
  edits: ReadonlyArray<readonly [TypeUrl, ReadonlyMap<string, Resource | undefined>]>,
): View =>
  edits.reduce((view, [typeUrl, changed]) => {
    const resources = PM.edit(view[typeUrl], changed)
    return resources === view[typeUrl] ? view : { ...view, [typeUrl]: resources }
  }, before)
