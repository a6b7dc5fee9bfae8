import * as PM from '../persistent-map.js'
import { type Resources, versionOf } from '../snapshot.js'
import {
  clusterType,
  endpointType,
  isFullState,
  listenerType,
  routeType,
  scopeType,
  type TypeUrl,
} from '../type-url.js'
import { type Holding, justAsked, recall, unaccepted, type Unsure } from './holding.js'
import { endpointsOf, type Lingerers } from './linger.js'
import type { DiscoveryRequest } from './messages.js'
import { eachName } from './names.js'
import { type NodeMemory, tablesBefore } from './node-memory.js'
import { doubtUnproven } from './proving.js'
import { noSearch, type Search } from './search.js'
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
    // While a deletion waits for proof its word does not count, as if it had said nothing.
    claims: session.isProving && typeUrl === routeType ? noClaims(watch) : watch.claims,
    holding: recall(knownOf(request, typeUrl, memory) ?? watch.holding, [
      ...askedFor(watch, typeUrl, session.isBare ? 'Fresh' : freshness),
      ...left([...PM.entries(memory?.doubts[typeUrl])], watch, memory),
      ...(typeUrl === routeType
        ? left([...PM.entries(tablesBefore({ ...session, memory }))], watch, memory)
        : []),
    ]),
    search: searchBefore(session, typeUrl, memory),
  }
  const comesBack = typeUrl === clusterType && freshness === 'Held' && memory !== undefined
  const opened: Session = {
    ...session,
    memory,
    freshness,
    lingerers: comesBack ? heldBefore(memory) : session.lingerers,
    brought: typeUrl === endpointType ? watch.subscription.names : session.brought,
    watches: { ...session.watches, [typeUrl]: remembered },
  }
  return session.isProving && typeUrl === routeType ? doubtUnproven(opened) : opened
}

const noClaims = ({ claims }: Watch): Watch['claims'] => claims && new Map()

/**
 * What it had accepted, as far as this process says that it has it: another one may have come up under its name.
 *
 * In state of the world it says of no resource which version it has, but it brings the version that it has
 * accepted last, if any: another one than is remembered is another process's, whoever had the id before. In delta it
 * names what it holds; after a refusal its versions cannot be trusted.
 */
const knownOf = (
  request: DiscoveryRequest,
  typeUrl: TypeUrl,
  memory: NodeMemory | undefined,
): Holding | undefined => {
  const accepted = memory?.accepted[typeUrl]
  if (memory === undefined || accepted === undefined || !isFullState(typeUrl)) return undefined
  // What others with its id have accepted, it may not have.
  if (memory.isShared) return undefined
  if (request._tag === 'Sotw')
    return request.versionInfo === versionOf(accepted)
      ? { acked: accepted, unsure: undefined }
      : undefined
  const { initialResourceVersions: claims } = request
  const isTainted = memory.doubts[typeUrl] !== undefined
  const others = [...PM.entries(accepted)].filter(({ name, version }) =>
    isTainted ? !claims.has(name) : claims.get(name) !== version,
  )
  return {
    acked: others.reduce<Resources>((rest, { name }) => PM.remove(rest, name), accepted),
    unsure: undefined,
  }
}

/** What it has refused before; of an id that is shared nobody knows which one that was. */
const searchBefore = (
  session: Session,
  typeUrl: TypeUrl,
  memory: NodeMemory | undefined,
): Search =>
  memory === undefined || memory.isShared || isUpgraded(session)
    ? noSearch
    : (memory.searches[typeUrl] ?? noSearch)

/** Another build may take what the last one has refused. */
const isUpgraded = ({ node, memory }: Session): boolean => {
  const [before, now] = [memory?.node.buildVersion, node?.buildVersion]
  return (
    before?.major !== now?.major || before?.minor !== now?.minor || before?.patch !== now?.patch
  )
}

/** What it does not ask for any more it does not hold. */
const left = (
  entries: ReadonlyArray<Unsure>,
  { subscription }: Watch,
  memory: NodeMemory | undefined,
): ReadonlyArray<Unsure> =>
  entries
    .filter(({ name }) => covers(subscription, name))
    .map((entry) => ({
      ...(memory?.isShared === true ? unaccepted(entry) : entry),
      isSettling: false,
    }))

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
    case scopeType:
    case routeType:
      // One that comes back asks for everything in one burst, before it can have taken anything in.
      return watches[clusterType]?.hasAccepted === true && wasSent(listenerType) ? 'Fresh' : 'Held'
  }
}
