import * as PM from '../persistent-map.js'
import {
  clusterType,
  endpointType,
  isFullState,
  listenerType,
  routeType,
  type TypeUrl,
} from '../type-url.js'
import { type Holding, justAsked, recall, type Unsure } from './holding.js'
import { endpointsOf, type Lingerers } from './linger.js'
import type { DiscoveryRequest } from './messages.js'
import { eachName } from './names.js'
import type { NodeMemory } from './node-memory.js'
import { noSearch } from './search.js'
import { covers } from './subscription.js'
import type { Freshness, Session } from './session-state.js'
import type { Watch } from './watch.js'

/**
 * Takes in the first request of a type: whether the client comes with something, and what it is
 * remembered to hold.
 */
export const openType = (
  session: Session,
  request: DiscoveryRequest,
  typeUrl: TypeUrl,
  watch: Watch,
): Session => {
  const freshness = freshnessOf(session, request, typeUrl)
  const memory = freshness === 'Fresh' ? undefined : session.memory
  const remembered: Watch = {
    ...watch,
    holding: recall(knownOf(session, typeUrl, memory) ?? watch.holding, [
      ...askedFor(watch, typeUrl, freshness),
      ...asked([...PM.entries(memory?.doubts[typeUrl])], watch),
      ...(typeUrl === routeType ? asked([...PM.entries(memory?.tables)], watch) : []),
    ]),
    search: memory?.searches[typeUrl] ?? noSearch,
  }
  const comesBack = typeUrl === clusterType && freshness === 'Held' && memory !== undefined
  return {
    ...session,
    memory,
    freshness,
    lingerers: comesBack ? heldBefore(memory) : session.lingerers,
    watches: { ...session.watches, [typeUrl]: remembered },
  }
}

/**
 * What it had accepted, where its own word does not count: in state of the world it says of no resource which
 * version it has, and after a refusal its versions cannot be trusted.
 */
const knownOf = (
  { variant }: Session,
  typeUrl: TypeUrl,
  memory: NodeMemory | undefined,
): Holding | undefined =>
  memory !== undefined &&
  isFullState(typeUrl) &&
  (variant === 'sotw' || memory.doubts[typeUrl] !== undefined)
    ? { acked: memory.accepted[typeUrl], unsure: undefined }
    : undefined

/** What it does not ask for any more it does not hold. */
const asked = (entries: ReadonlyArray<Unsure>, { subscription }: Watch): ReadonlyArray<Unsure> =>
  entries
    .filter(({ name }) => covers(subscription, name))
    .map((entry) => ({ ...entry, isSettling: false }))

/** What a client has asked for by name, and was not sent yet. */
const askedFor = (
  { subscription }: Watch,
  typeUrl: TypeUrl,
  freshness: Freshness,
): ReadonlyArray<Unsure> =>
  [...eachName(subscription.names)].map((name) =>
    justAsked(name, { isUnknown: freshness !== 'Fresh' && !isFullState(typeUrl) }),
  )

/** Everything that it held may still be named by its tables; what the view has too is dropped at once. */
const heldBefore = ({ accepted }: NodeMemory): Lingerers =>
  new Map(
    [...PM.entries(accepted[clusterType])].map((cluster) => [
      cluster.name,
      {
        cluster,
        endpoints: endpointsOf(cluster, accepted[endpointType]),
        unnamedSince: undefined,
      },
    ]),
  )

const freshnessOf = (
  { freshness, watches, memory }: Session,
  request: DiscoveryRequest,
  typeUrl: TypeUrl,
): Freshness => {
  if (freshness !== 'Unknown') return freshness
  const bringsVersions =
    request._tag === 'Sotw' ? request.versionInfo !== '' : request.initialResourceVersions.size > 0
  const isTainted =
    memory?.isShared === true ||
    Object.values(memory?.doubts ?? {}).some((names) => names !== undefined)
  if (bringsVersions || isTainted) return 'Held'
  const wasSent = (of: TypeUrl): boolean => (watches[of]?.nonce ?? '') !== ''
  switch (typeUrl) {
    case clusterType:
    case listenerType:
      return 'Unknown'
    case endpointType:
      return wasSent(clusterType) ? 'Unknown' : 'Held'
    case routeType:
      // One that comes back asks for everything in one burst, before it can have taken anything in.
      return watches[clusterType]?.hasAccepted === true && wasSent(listenerType) ? 'Fresh' : 'Held'
  }
}
