import { clusterType } from '../../../../core/type-url.js'
import { isIpLiteral } from '../routing/cluster.js'
import { sameBytes } from './bytes.js'
import type {
  ActiveCluster,
  Awaited,
  ClusterChange,
  Clusters,
  ClusterSurroundings,
  WarmingCluster,
} from './clusters.js'
import { inspect } from './inspect.js'
import type { ReceivedResource } from './messages.js'
import type { HeldResource } from './state.js'

/** Clusters in the middle of a change; it does not outlive the function that opens it. */
export interface Draft extends Clusters {
  readonly active: Map<string, ActiveCluster>
  readonly warming: Map<string, WarmingCluster>
  paused: boolean
  /** A subscription to endpoints has begun or ended. */
  moved: boolean
}

export const open = (clusters: Clusters): Draft => ({
  ...clusters,
  active: new Map(clusters.active),
  warming: new Map(clusters.warming),
  moved: false,
})

export const close = ({ moved, ...clusters }: Draft): ClusterChange => [clusters, moved]

/** The form of a cluster that came last: the one that warms, if one does. */
export const latest = (
  { active, warming }: Pick<Clusters, 'active' | 'warming'>,
  name: string,
): HeldResource | undefined => warming.get(name) ?? active.get(name)

/** True where this is the form that came last; then its version is the only thing that changes. */
export const refresh = (draft: Draft, { name, version, bytes }: ReceivedResource): boolean => {
  if (!sameBytes(latest(draft, name)?.bytes, bytes)) return false
  const warming = draft.warming.get(name)
  const active = draft.active.get(name)
  if (warming !== undefined) draft.warming.set(name, { ...warming, version })
  else if (active !== undefined) draft.active.set(name, { ...active, version })
  return true
}

/** Adds a form of a cluster, which is ready at once where it waits for nothing. */
export const add = (
  draft: Draft,
  { name, version, bytes }: ReceivedResource,
  surroundings: ClusterSurroundings,
): void => {
  const awaits = awaitedBy(bytes, surroundings)
  draft.moved ||= awaits?._tag === 'Endpoints' || asksForEndpoints(draft.warming.get(name))
  if (awaits !== undefined) {
    draft.warming.set(name, { version, bytes, awaits })
    return count(draft)
  }
  start(draft, name, { version, bytes, assignment: undefined })
}

/** Leaves a refused cluster among those that warm. Nobody takes notice before the next change. */
export const stick = (draft: Draft, { name, version, bytes }: ReceivedResource): void => {
  draft.moved ||= asksForEndpoints(draft.warming.get(name))
  draft.warming.set(name, { version, bytes, awaits: { _tag: 'Nothing' } })
}

/** Ends the warming of a cluster; the form that was there goes. */
export const activate = (
  draft: Draft,
  name: string,
  assignment: HeldResource | undefined,
): void => {
  const cluster = draft.warming.get(name)
  if (cluster === undefined) return
  const { version, bytes } = cluster
  start(draft, name, { version, bytes, assignment })
}

export const remove = (draft: Draft, name: string): void => {
  const forms = [draft.warming.get(name), draft.active.get(name)]
  if (forms.every((form) => form === undefined)) return
  draft.moved ||= forms.some(asksForEndpoints)
  draft.active.delete(name)
  draft.warming.delete(name)
  count(draft)
}

const start = (draft: Draft, name: string, cluster: ActiveCluster): void => {
  draft.moved ||= asksForEndpoints(draft.active.get(name))
  draft.warming.delete(name)
  draft.active.set(name, cluster)
  count(draft)
}

/**
 * Envoy counts its clusters when one is added, removed or ready, and withholds its answers, or
 * gives them, by that count alone.
 */
const count = (draft: Draft): void => {
  draft.paused = draft.initialized && draft.warming.size > 0
}

const asksForEndpoints = (form: HeldResource | WarmingCluster | undefined): boolean =>
  form !== undefined &&
  !('awaits' in form && form.awaits._tag === 'Nothing') &&
  inspect(clusterType, form.bytes).needs.length > 0

const awaitedBy = (
  bytes: Uint8Array,
  { nowMs, resolves }: ClusterSurroundings,
): Awaited | undefined => {
  const { needs, awaitedHosts: hosts } = inspect(clusterType, bytes)
  const [need] = needs
  if (need !== undefined) {
    const untilMs = need.fetchMs === undefined ? undefined : nowMs + need.fetchMs
    return { _tag: 'Endpoints', service: need.name, untilMs }
  }
  return hosts.length === 0 || someResolves(hosts, resolves) ? undefined : { _tag: 'Names', hosts }
}

/** Envoy is content with the first of a cluster's names. */
export const someResolves = (
  hosts: ReadonlyArray<string>,
  resolves: (host: string) => boolean,
): boolean => hosts.some((host) => isIpLiteral(host) || resolves(host))
