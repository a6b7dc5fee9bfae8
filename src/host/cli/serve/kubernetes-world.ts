import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Ledger } from '../../../core/ledger.js'
import type { Logger } from '../../../ports/logger.js'
import type { RosterStore } from '../../../ports/roster-store.js'
import type { RunningHost } from '../../start-host.js'
import { type Cluster, connectCluster } from '../cluster/connect.js'
import {
  type ClusterEvent,
  type KeptLease,
  type KubernetesEvents,
  loadFiles,
  type XdsServer,
} from '../peers.js'
import type { World } from '../world.js'
import { eventOfDeletion, eventOfRoster } from './cluster-events.js'
import type { SourceOptions } from './source-options.js'
import { openTenure, type Tenure } from './tenure.js'
import type { MakingSurroundings, Surroundings } from './surroundings.js'

type KubernetesSource = Extract<SourceOptions, { readonly _tag: 'Kubernetes' }>

interface Telling {
  readonly logger: Logger
  readonly world: World
}

/**
 * Routes of a cluster: the objects hold finalizers and conditions, the cluster the roster, a Lease tells that this
 * control plane is at work, and Events what people should know. Nothing here waits for the API server.
 */
export const kubernetesWorld = async (
  { cluster: options, namespaces }: KubernetesSource,
  rosterPath: string | undefined,
  { logger, world }: Telling,
): MakingSurroundings => {
  const found = await connectCluster(options, world)
  if (E.isLeft(found)) return E.left([found.left])
  const ended = new AbortController()
  const place = settle(found.right, { logger, world }, ended.signal)
  const { cluster, writing, tenure, lease, events } = place
  const { k8s, client, ownNamespace } = cluster
  const close = async (): Promise<void> => {
    ended.abort()
    await Promise.all([lease.finished, events.finished])
    client.close()
  }
  const roster = await rosterIn(writing, lease.isHeld, rosterPath)
  if (E.isLeft(roster)) {
    await close()
    return E.left([roster.left])
  }
  const watched = namespaces?.join(', ') ?? 'all'
  const where = { server: client.server, namespaces: watched, ownNamespace }
  logger.log('info', 'following a cluster', where)
  return E.right({
    ports: {
      source: k8s.kubernetesSource(client, { namespaces, logger }),
      store: k8s.kubernetesRouteStore(writing.client),
      roster: roster.right,
      ...tellersOf(place, rosterPath === undefined),
    },
    ready: tenure.begun,
    over: tenure.over,
    begin: (host, signal) => workBeside({ cluster, host, logger, isHeld: lease.isHeld }, signal),
    close,
  })
}

/** What a control plane has in a cluster as soon as it is there. */
interface Place {
  readonly cluster: Cluster
  /** The same, for what only the one that counts may write. */
  readonly writing: Cluster
  readonly tenure: Tenure
  readonly lease: KeptLease
  readonly events: KubernetesEvents
}

const settle = (cluster: Cluster, { logger, world }: Telling, signal: AbortSignal): Place => {
  const { k8s, client, ownNamespace: namespace } = cluster
  const tenure = openTenure(logger)
  const identity = identityOf(world)
  const lease = k8s.keepLease(client, { namespace, identity, logger, onFact: tenure.hear }, signal)
  const writing = { ...cluster, client: { ...client, ...k8s.whileHeld(client, lease.isHeld) } }
  const events = k8s.kubernetesEvents(client, { identity, logger }, signal)
  return { cluster, writing, tenure, lease, events }
}

const tellersOf = (
  { cluster: { k8s, ownNamespace }, tenure, events }: Place,
  isRosterInCluster: boolean,
): Pick<Surroundings['ports'], 'onDeletion' | 'onRosterFact'> => {
  const kept = rosterObject(ownNamespace, k8s.defaultRosterName)
  const tell = (event: ClusterEvent | undefined): void => {
    if (event !== undefined) events.emit(event)
  }
  return {
    onDeletion: (fact) => tell(eventOfDeletion(fact)),
    onRosterFact: (fact) => {
      // Whoever has changed a file is no other holder of the Lease: only a person may go on with what is there now.
      if (fact._tag === 'Superseded' && isRosterInCluster) tenure.end(fact.message)
      tell(eventOfRoster(fact, kept))
    },
  }
}

/** A Pod is the same one after its container has crashed: what it held then is its own, and nobody waits. */
const identityOf = ({ env }: World): string => {
  const pod = env['POD_UID'] ?? ''
  return `${hostname()}_${pod === '' ? randomUUID() : pod}`
}

/** In the cluster, unless a file is named for it. */
const rosterIn = async (
  { k8s, client, ownNamespace }: Cluster,
  isAlone: () => boolean,
  path: string | undefined,
): Promise<E.Either<string, RosterStore>> =>
  path === undefined
    ? E.right(k8s.kubernetesRosterStore(client, { namespace: ownNamespace, isAlone }))
    : E.Functor.map(await loadFiles(), (files) => files.filesRosterStore({ path }))

/** What the Events of Envoys regard: the list of them. */
const rosterObject = (namespace: string, name: string): ClusterEvent['regarding'] => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace,
  name,
})

interface Beside extends Pick<Telling, 'logger'> {
  readonly cluster: Cluster
  readonly host: RunningHost<XdsServer>
  /** Whether this is the control plane that counts. */
  readonly isHeld: () => boolean
}

/** Forgets Envoys: those that people name in the cluster, and those whose Pods are gone. Never rejects. */
const workBeside = async (
  { cluster, host, logger, isHeld }: Beside,
  signal: AbortSignal,
): Promise<void> => {
  const { k8s, client, ownNamespace } = cluster
  const { fleet, operator } = host
  const nodes = (): ReadonlyArray<string> => lostNodes(fleet.ledger())
  const onGone = (id: string, why: string): void => {
    // It has come back, whatever is said of its Pod.
    if (!nodes().includes(id)) return
    logger.log('info', 'the Pod of an Envoy is gone', { node: id, why })
    void operator.forget(id, 'Pod')
  }
  const answering = k8s.serveForgetRequests(
    client,
    { namespace: ownNamespace, logger, isHeld, forget: (id) => operator.forget(id) },
    signal,
  )
  // In whatever namespace Envoys run: those that are served are another matter.
  const watching = k8s.watchEnvoyPods(client, { logger, nodes }, onGone, signal)
  for (const end of await Promise.allSettled([answering, watching]))
    if (end.status === 'rejected')
      logger.log('error', 'a watcher has failed', { error: String(end.reason) })
}

/** The nodes of which no connection is left, each once. */
const lostNodes = ({ nodes }: Ledger): ReadonlyArray<string> => {
  const connected = new Set(nodes.filter((node) => node.connected).map(({ id }) => id))
  return [...new Set(nodes.map(({ id }) => id))].filter((id) => !connected.has(id))
}
