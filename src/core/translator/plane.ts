import type { DataPlane } from '../context.js'
import { exactSize } from '../order.js'
import * as PM from '../persistent-map.js'
import type { Resource, Uid } from '../resource.js'
import type { Rule, Target } from '../rule.js'
import { emptyView, reuseView, type View, view } from '../snapshot.js'
import { isSameForm, type TableForm, wholeForm } from '../table-form.js'
import { outcomeOf } from '../translate/claims.js'
import { targetsOf } from '../translate/clusters.js'
import type { Destinations } from '../translate/destinations.js'
import { listenersOf } from '../translate/listeners.js'
import { scopesOf } from '../translate/scopes.js'
import { clusterType, endpointType, listenerType, routeType, scopeType } from '../type-url.js'
import type { Acceptance } from '../verdict.js'
import { type Claimant, claimantsOf, grantIndex } from './grant-index.js'
import { tableIndex } from './table-index.js'
import { type TargetChanges, targetIndex } from './target-index.js'

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
  /** Brings the view up to date, with the tables in this form from now on; in the form that they have if absent. */
  readonly settle: (form?: TableForm) => Settled
}

export interface Settled {
  /** The very same as before where nothing has changed. */
  readonly view: View
  /** The objects that other words may have to be said of, beside those that have come. */
  readonly judged: ReadonlySet<Uid>
  /** How many virtual hosts there are. */
  readonly hosts: number
}

interface Resident {
  readonly claimants: ReadonlyArray<Claimant>
  readonly targets: ReadonlyArray<Target>
}

/** Begins with no rules. What is touched between two calls of `settle` is paid for once. */
export const planeIndex = (plane: DataPlane, destinations: Destinations): PlaneIndex => {
  const first = plane.form ?? wholeForm
  const tables = tableIndex(plane.listeners, first)
  const targets = targetIndex(destinations)
  const grants = grantIndex(tables, targets.clusterName)
  const residents = new Map<Uid, Resident>()
  let [current, inForce] = [withForm(emptyView, plane, first), first]
  return {
    enter: (uid, rules) => {
      const named = exactSize(rules.flatMap(targetsOf))
      targets.name(uid, named)
      const claimants = claimantsOf(rules)
      claimants.forEach(grants.add)
      residents.set(uid, { claimants, targets: named })
    },
    leave: (uid) => {
      const resident = residents.get(uid)
      if (resident === undefined) return
      residents.delete(uid)
      resident.claimants.forEach(grants.remove)
      targets.unname(uid, resident.targets)
    },
    look: targets.look,
    outcome: (uid) => {
      const made = residents.get(uid)?.claimants.map((each) => each.made)
      return made && outcomeOf(made, ({ claim }) => grants.winnerOf(claim))
    },
    settle: (form = inForce) => {
      if (!isSameForm(form, inForce)) current = withForm(current, plane, form)
      inForce = form
      const { judged, turned } = grants.settle()
      for (const { rule, serves, targets: own } of turned)
        (serves ? targets.use : targets.release)(rule.owner.uid, own)
      const changes = targets.changes()
      current = withChanges(current, changes, tables.changed(form))
      const toJudge = new Set([...judged, ...changes.judged])
      return { view: current, judged: toJudge, hosts: tables.size() }
    },
  }
}

/** With the listeners and the scopes of this form. */
const withForm = (before: View, plane: DataPlane, form: TableForm): View => {
  const made = view({
    [listenerType]: listenersOf(plane.listeners, form),
    [scopeType]: scopesOf(plane, form),
  })
  return reuseView(before, {
    ...before,
    [listenerType]: made[listenerType],
    [scopeType]: made[scopeType],
  })
}

const withChanges = (
  before: View,
  { clusters, assignments }: TargetChanges,
  tables: ReadonlyMap<string, Resource | undefined>,
): View => {
  const edits = [
    [clusterType, clusters],
    [endpointType, assignments],
    [routeType, tables],
  ] as const
  return edits.reduce((current, [typeUrl, changed]) => {
    const resources = PM.edit(current[typeUrl], changed)
    return resources === current[typeUrl] ? current : { ...current, [typeUrl]: resources }
  }, before)
}
