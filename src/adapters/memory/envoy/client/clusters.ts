import { clusterType } from '../../../../core/type-url.js'
import {
  activate,
  add,
  close,
  open,
  refresh,
  remove,
  someResolves,
  stick,
} from './cluster-draft.js'
import { inspect, type Need } from './inspect.js'
import type { JudgedResource } from './judge.js'
import type { HeldResource } from './state.js'

/** Envoy's cluster manager. */
export interface Clusters {
  /** Those that the router knows. */
  readonly active: ReadonlyMap<string, ActiveCluster>
  /** New clusters, and new forms of active ones, that are not ready. */
  readonly warming: ReadonlyMap<string, WarmingCluster>
  /** The first clusters were ready once: from then on warming withholds answers. */
  readonly initialized: boolean
  /** Answers to responses with clusters are withheld. */
  readonly paused: boolean
}

export interface ActiveCluster extends HeldResource {
  /** The endpoints that this form of the cluster was given; `undefined` is none. */
  readonly assignment: HeldResource | undefined
}

export interface WarmingCluster extends HeldResource {
  readonly awaits: Awaited
}

export type Awaited =
  /** `untilMs` is `undefined` for one that is waited for without end. */
  | { readonly _tag: 'Endpoints'; readonly service: string; readonly untilMs: number | undefined }
  | { readonly _tag: 'Names'; readonly hosts: ReadonlyArray<string> }
  /** It was refused, and nothing makes it ready. */
  | { readonly _tag: 'Nothing' }

export const noClusters: Clusters = {
  active: new Map(),
  warming: new Map(),
  initialized: false,
  paused: false,
}

/** What is there when clusters change. */
export interface ClusterSurroundings {
  readonly nowMs: number
  readonly resolves: (host: string) => boolean
}

export type ClusterChange = readonly [
  clusters: Clusters,
  /** A subscription to endpoints has begun or ended, though not always its name. */
  subscriptionsMoved: boolean,
]

/**
 * Adds and changes clusters in their order, then removes some.
 *
 * A cluster in the form that it has already stays as it is; of one that warms, that is the form
 * that warms.
 */
export const changeClusters = (
  clusters: Clusters,
  judged: ReadonlyArray<JudgedResource>,
  removed: ReadonlyArray<string>,
  surroundings: ClusterSurroundings,
): ClusterChange => {
  const draft = open(clusters)
  for (const { resource, fault } of judged) {
    if (refresh(draft, resource)) continue
    if (fault === undefined) add(draft, resource, surroundings)
    else if (fault.sticks) stick(draft, resource)
  }
  for (const name of removed) remove(draft, name)
  return close(draft)
}

/** Some of the endpoints that were asked for have come, or are known not to. */
export interface Arrival {
  readonly assignments: ReadonlyMap<string, HeldResource>
  /** Services of which there are none; `all` where the others are given up. */
  readonly absent: ReadonlySet<string> | 'all'
}

/**
 * Gives endpoints to the clusters that they are for. Clusters that warm are ready with them, and
 * without any where there are none; active ones keep theirs then.
 */
export const takeEndpoints = (clusters: Clusters, { assignments, absent }: Arrival): Clusters => {
  const draft = open(clusters)
  for (const [name, cluster] of clusters.active) {
    const [service] = servicesOf(cluster)
    const assignment = service === undefined ? undefined : assignments.get(service.name)
    if (assignment !== undefined) draft.active.set(name, { ...cluster, assignment })
  }
  for (const [name, { awaits }] of clusters.warming) {
    if (awaits._tag !== 'Endpoints') continue
    const { service } = awaits
    if (assignments.has(service) || absent === 'all' || absent.has(service))
      activate(draft, name, assignments.get(service))
  }
  return close(draft)[0]
}

/**
 * Ends the warming of clusters that have waited for long enough, and of those whose names resolve
 * by now. The former get the endpoints that came last under their service's name, if any did.
 */
export const awaitNoMore = (
  clusters: Clusters,
  known: ReadonlyMap<string, HeldResource>,
  { nowMs, resolves }: ClusterSurroundings,
): ClusterChange => {
  const draft = open(clusters)
  for (const [name, { awaits }] of clusters.warming)
    if (awaits._tag === 'Endpoints' && isDue(awaits.untilMs, nowMs))
      activate(draft, name, known.get(awaits.service))
    else if (awaits._tag === 'Names' && someResolves(awaits.hosts, resolves))
      activate(draft, name, undefined)
  return close(draft)
}

const isDue = (untilMs: number | undefined, nowMs: number): boolean =>
  untilMs !== undefined && untilMs <= nowMs

/** Whether one of the first clusters is waited for; one that was refused is not. */
export const areFirstReady = ({ warming }: Clusters): boolean =>
  [...warming.values()].every(({ awaits }) => awaits._tag === 'Nothing')

/** The endpoints that these clusters ask for, those that warm included. */
export const endpointNeeds = ({ active, warming }: Clusters): ReadonlyArray<Need> => [
  ...[...active.values()].flatMap(servicesOf),
  ...[...warming.values()].flatMap((cluster) =>
    cluster.awaits._tag === 'Nothing' ? [] : servicesOf(cluster),
  ),
]

const servicesOf = ({ bytes }: HeldResource): ReadonlyArray<Need> =>
  inspect(clusterType, bytes).needs
