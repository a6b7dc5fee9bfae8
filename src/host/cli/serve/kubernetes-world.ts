import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import * as E from 'fp-ts/lib/Either.js'
import type { Ledger } from '../../../core/ledger.js'
import { type HostPort, showHostPort } from '../../bootstrap.js'
import type { RunningHost } from '../../start-host.js'
import { type Cluster, connectCluster } from '../cluster/connect.js'
import {
  type ClusterEvent,
  type KeptLease,
  type KubernetesEvents,
  type LeaseFact,
  type XdsServer,
} from '../peers.js'
import type { World } from '../world.js'
import { eventOfDeletion, eventOfRoster } from './cluster-events.js'
import { type Knowledge, openKnowledge } from './knowledge.js'
import type { SourceOptions } from './source-options.js'
import { openTenure, standingWhile, type Tenure } from './tenure.js'
import type { MakingSurroundings, Surroundings, WorldOfSource } from './surroundings.js'
import { openWaiting, type Waiting } from './waiting.js'

type KubernetesSource = Extract<SourceOptions, { readonly _tag: 'Kubernetes' }>

/**
 * Routes of a cluster: the objects hold finalizers and conditions, the cluster the roster, a Lease tells that this
 * control plane is at work, and Events what people should know. Nothing here waits for the API server.
 */
export const kubernetesWorld = async (
  { cluster: options, namespaces }: KubernetesSource,
  at: WorldOfSource,
): MakingSurroundings => {
  const { logger } = at
  const found = await connectCluster(options, at.world)
  if (E.isLeft(found)) return E.left([found.left])
  const knowledge = openKnowledge()
  const place = settle(found.right, at, knowledge.knowsAll)
  const { cluster, writing, tenure, waiting, lease } = place
  const { k8s, client, ownNamespace } = cluster
  const where = { server: client.server, namespaces: namespaces?.join(', ') ?? 'all', ownNamespace }
  logger.log('info', 'following a cluster', where)
  return E.right({
    ports: {
      source: k8s.kubernetesSource(client, { namespaces, logger }),
      store: k8s.kubernetesRouteStore(writing.client),
      roster: k8s.kubernetesRosterStore(writing.client, {
        namespace: ownNamespace,
        isAlone: lease.isHeld,
      }),
      standing: standingWhile(lease.isHeld, tenure),
      ...tellersOf(place),
    },
    ...{ ready: tenure.begun, whyNotReady: waiting.why, over: tenure.over },
    begin: (host, signal) => {
      knowledge.follow(host, signal)
      return workBeside({ cluster: writing, host, logger, isHeld: lease.isHeld }, signal)
    },
    close: () => close(place, knowledge),
  })
}

/** What a control plane has in a cluster as soon as it is there. */
interface Place {
  readonly cluster: Cluster
  /** The same, for what only the one that counts may write. */
  readonly writing: Cluster
  /** What it writes, also where nobody waits for the answer any more. */
  readonly writes: Ending
  readonly tenure: Tenure
  readonly waiting: Waiting
  readonly lease: KeptLease & Ending
  readonly events: KubernetesEvents & Ending
}

interface Ending {
  /** Resolves once it has ended. */
  readonly end: () => Promise<void>
}

const ending = <A extends { readonly finished: Promise<void> }>(
  start: (signal: AbortSignal) => A,
): A & Ending => {
  const ended = new AbortController()
  const started = start(ended.signal)
  const end = (): Promise<void> => {
    ended.abort()
    return started.finished
  }
  return { ...started, end }
}

const settle = (
  cluster: Cluster,
  { logger, world, admin }: WorldOfSource,
  knowsAll: () => boolean,
): Place => {
  const { k8s, client, ownNamespace: namespace } = cluster
  const tenure = openTenure(logger)
  const identity = identityOf(world, admin)
  const waiting = openWaiting(namespace)
  const onFact = (fact: LeaseFact): void => {
    waiting.hear(fact)
    tenure.hear(fact)
  }
  const keeping = { namespace, identity, logger, knowsAll, onFact }
  const lease = ending((signal) => k8s.keepLease(client, keeping, signal))
  const { end, ...held } = k8s.whileHeld(client, lease.leftMs)
  const writing = { ...cluster, client: { ...client, ...held } }
  const events = ending((signal) =>
    k8s.kubernetesEvents(writing.client, { identity, logger }, signal),
  )
  return { cluster, writing, writes: { end }, tenure, waiting, lease, events }
}

/** Who has no Lease tells nothing, and nothing of it arrives later: another one may have it at once. */
const close = async (
  { cluster: { client }, events, writes, lease }: Place,
  knowledge: Knowledge,
): Promise<void> => {
  await events.end()
  await writes.end()
  knowledge.freeze()
  await lease.end()
  client.close()
}

const tellersOf = ({
  cluster: { k8s, ownNamespace },
  tenure,
  events,
}: Place): Pick<Surroundings['ports'], 'onDeletion' | 'onRosterFact'> => {
  const kept = rosterObject(ownNamespace, k8s.defaultRosterName)
  const tell = (event: ClusterEvent | undefined): void => {
    if (event !== undefined) events.emit(event)
  }
  return {
    onDeletion: (fact) => tell(eventOfDeletion(fact)),
    onRosterFact: (fact) => {
      if (fact._tag === 'Superseded') tenure.end(fact.message)
      tell(eventOfRoster(fact, kept))
    },
  }
}

/**
 * What no other process that lives is called. Where one listens in a Pod is free again only when that one has ended: a
 * container that has crashed and is started again is the same control plane, what it held is its own, and nobody waits.
 * One that listens nowhere could not be told from another that lives: it is a new one each time.
 */
const identityOf = ({ env }: World, admin: HostPort | undefined): string => {
  const pod = env['POD_UID'] ?? ''
  const isKnown = pod !== '' && admin !== undefined
  return `${hostname()}_${isKnown ? `${pod}_${showHostPort(admin)}` : randomUUID()}`
}

/** What the Events of Envoys regard: the list of them. */
const rosterObject = (namespace: string, name: string): ClusterEvent['regarding'] => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace,
  name,
})

interface Beside extends Pick<WorldOfSource, 'logger'> {
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
