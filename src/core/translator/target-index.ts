import type { Resource, Uid } from '../resource.js'
import type { Target } from '../rule.js'
import { assignmentOf, clusterOf, owned, readableName } from '../translate/clusters.js'
import type { Destinations } from '../translate/destinations.js'
import { serviceKey } from '../translate/endpoints.js'
import { type Tally, tally } from './tally.js'

/** What rules send to, and what there is of it at an Envoy. */
export interface TargetIndex {
  /** The object names these targets, each once, be it served or not. */
  readonly name: (uid: Uid, targets: Iterable<Target>) => void
  readonly unname: (uid: Uid, targets: Iterable<Target>) => void
  /** A rule of the object sends requests there. */
  readonly use: (uid: Uid, targets: Iterable<Target>) => void
  readonly release: (uid: Uid, targets: Iterable<Target>) => void
  /** The endpoints of a Service may be others. */
  readonly look: (service: string) => void
  readonly clusterName: (target: Target) => string
  /** What has changed since this was last asked. */
  readonly changes: () => TargetChanges
}

export interface TargetChanges {
  /** By name; `undefined` for those that are gone. */
  readonly clusters: ReadonlyMap<string, Resource | undefined>
  readonly assignments: ReadonlyMap<string, Resource | undefined>
  /** The objects that name a target which has another problem than before, or none any more. */
  readonly judged: ReadonlySet<Uid>
}

/** One target; it is known as long as an object names it. */
interface Known {
  readonly target: Target
  readonly cluster: Resource
  readonly naming: Set<Uid>
  readonly users: Tally
  problem: string | undefined
  published: Resource | undefined
  assignment: Resource | undefined
}

interface Found {
  readonly clusters: Map<string, Resource | undefined>
  readonly assignments: Map<string, Resource | undefined>
  readonly judged: Set<Uid>
}

/** Begins with no targets. A change costs what it touches, and a copy of the owners of a shared cluster. */
export const targetIndex = (destinations: Destinations): TargetIndex => {
  const known = knownTargets(destinations)
  const touched = new Set<string>()
  const at = (target: Target): Known => {
    const name = readableName(target)
    touched.add(name)
    return known.at(target, name)
  }
  return {
    name: (uid, targets) => {
      for (const each of targets) at(each).naming.add(uid)
    },
    unname: (uid, targets) => {
      for (const each of targets) at(each).naming.delete(uid)
    },
    use: (uid, targets) => {
      for (const each of targets) at(each).users.add(uid)
    },
    release: (uid, targets) => {
      for (const each of targets) at(each).users.drop(uid)
    },
    look: (service) => {
      for (const name of known.ofService(service)) touched.add(name)
    },
    clusterName: (target) =>
      (known.get(readableName(target))?.cluster ?? clusterOf(target, destinations)).name,
    changes: () => {
      const changes: Found = { clusters: new Map(), assignments: new Map(), judged: new Set() }
      for (const name of touched) {
        const one = known.get(name)
        if (one === undefined) continue
        refresh(one, name, destinations, changes)
        if (one.naming.size === 0) known.remove(one.target)
      }
      touched.clear()
      return changes
    },
  }
}

/** The targets that are known, by name and by Service. */
interface KnownTargets {
  readonly get: (name: string) => Known | undefined
  /** It is known from now on, under its readable name. */
  readonly at: (target: Target, name: string) => Known
  readonly ofService: (key: string) => Iterable<string>
  readonly remove: (target: Target) => void
}

const knownTargets = (destinations: Destinations): KnownTargets => {
  const known = new Map<string, Known>()
  const byService = new Map<string, Set<string>>()
  return {
    get: (name) => known.get(name),
    ofService: (key) => byService.get(key) ?? [],
    at: (target, name) => {
      const found = known.get(name)
      if (found !== undefined) return found
      const made = unknown(target, destinations)
      known.set(name, made)
      if (target._tag === 'Service') {
        const key = serviceKey(target)
        byService.set(key, (byService.get(key) ?? new Set<string>()).add(name))
      }
      return made
    },
    remove: (target) => {
      known.delete(readableName(target))
      if (target._tag !== 'Service') return
      const key = serviceKey(target)
      const names = byService.get(key)
      names?.delete(readableName(target))
      if (names?.size === 0) byService.delete(key)
    },
  }
}

const unknown = (target: Target, destinations: Destinations): Known => ({
  target,
  cluster: clusterOf(target, destinations),
  naming: new Set(),
  users: tally(),
  problem: undefined,
  published: undefined,
  assignment: undefined,
})

/** Brings what is published of a target up to date, and notes what is another than before. */
const refresh = (one: Known, name: string, destinations: Destinations, changes: Found): void => {
  const problem = JSON.stringify(destinations(one.target).problem)
  if (problem !== one.problem) for (const uid of one.naming) changes.judged.add(uid)
  one.problem = problem
  const owners = one.users.names()
  const cluster = owners.length === 0 ? undefined : kept(one.published, one.cluster, owners)
  if (cluster !== one.published) changes.clusters.set(one.cluster.name, cluster)
  one.published = cluster
  if (one.target._tag !== 'Service') return
  const assignment =
    owners.length === 0
      ? undefined
      : kept(one.assignment, assignmentOf(one.target, destinations), owners)
  if (assignment !== one.assignment) changes.assignments.set(name, assignment)
  one.assignment = assignment
}

/** The resource with its owners: the one from before, if it is the same. */
const kept = (
  before: Resource | undefined,
  after: Resource,
  owners: ReadonlyArray<Uid>,
): Resource =>
  before?.version === after.version && before.owners === owners ? before : owned(after, owners)
