import type * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../ports/logger.js'
import type { SourceError } from '../../../ports/route-source.js'
import type { ApiClient } from '../api.js'
import type { InformerTrouble } from '../informers/index.js'
import { maxNamespaces } from '../informers/namespaces.js'
import { paced } from '../informers/paced.js'
import { askPod, type PodAnswer } from './ask-pod.js'
import { answered, askAbout, type Inquiries, type Inquiry, podsIn } from './inquiries.js'
import { followPods, type NamespacePods } from './namespace-pods.js'
import type { PodRef } from './pod-of.js'
import { alarmOf, type Turns } from './turns.js'

/** How often it is looked which nodes are asked about, in milliseconds. */
export const lookEveryMs = 10_000

/** How many Pods are asked for at once: many hundred a second, and no burden for an API server. */
export const maxAsking = 8

export interface EnvoyPodsPorts {
  readonly client: ApiClient
  readonly turns: Turns
  readonly logger: Logger
  readonly random: () => number
  readonly nodes: () => ReadonlyArray<string>
  /** All if `undefined`. */
  readonly namespaces: ReadonlySet<string> | undefined
  readonly onGone: (nodeId: string, why: string) => void
  /** Something that followed Pods has ended. */
  readonly onEnd: (result: E.Either<SourceError, void>) => void
  readonly onBug: (cause: unknown) => void
}

/** Follows the Pods of nodes until `signal` aborts. */
export const followEnvoyPods = (ports: EnvoyPodsPorts, signal: AbortSignal): void => {
  const { run, clock } = ports.turns
  const inquiries: Inquiries = new Map()
  const watched = watchedNamespaces(ports, () => run(lookSoon), signal)
  const isAllowed = (namespace: string): boolean => ports.namespaces?.has(namespace) ?? true
  const inquire = inquirer(ports, inquiries, watched.isSuspect, () => lookSoon(), signal)
  const look = (): number => {
    askAbout(inquiries, ports.nodes(), isAllowed)
    watched.askAbout(podsIn(inquiries))
    alarm(Math.min(clock.nowMs() + lookEveryMs, inquire()))
    return inquiries.size * restPerNodeMs
  }
  const lookSoon = paced(clock, look, signal)
  const alarm = alarmOf(clock, lookSoon, signal)
  run(lookSoon)
}

/** How long to rest for each node after a look, in milliseconds: it takes a fraction of that. */
const restPerNodeMs = 0.001

/**
 * No more than `maxNamespaces`; Envoys in others are not found to be gone. Ids are what Envoys call themselves, so the
 * number of namespaces must not be up to them.
 */
interface WatchedNamespaces {
  /** By namespace, the names of the Pods that are asked about. */
  readonly askAbout: (pods: ReadonlyMap<string, ReadonlySet<string>>) => void
  readonly isSuspect: (pod: PodRef) => boolean
}

/** Follows the namespaces in which a Pod is asked about, and no others. */
const watchedNamespaces = (
  { client, turns, random, logger, onEnd }: EnvoyPodsPorts,
  onNews: () => void,
  signal: AbortSignal,
): WatchedNamespaces => {
  const watched = new Map<string, NamespacePods>()
  let isTold = false
  signal.addEventListener('abort', () => watched.forEach(({ stop }) => stop()))
  const onTroubles = (troubles: ReadonlyArray<InformerTrouble>): void => {
    for (const { where, message } of troubles)
      logger.log('warn', 'the Pods of Envoys cannot be read', { where, error: message })
  }
  const watch = (namespace: string, names: ReadonlySet<string>): void => {
    const known = watched.get(namespace)
    if (known !== undefined) return known.askAbout(names)
    if (watched.size < maxNamespaces) {
      const options = { client, clock: turns.clock, random }
      const handlers = { onNews, onTroubles, onEnd }
      watched.set(namespace, followPods(options, namespace, names, handlers))
    } else if (!isTold) {
      isTold = true
      const fields = { namespace, watched: maxNamespaces }
      logger.log('warn', 'Envoys are in too many namespaces to look at all of their Pods', fields)
    }
  }
  return {
    askAbout: (pods) => {
      for (const [namespace, { stop }] of watched) {
        if (pods.has(namespace)) continue
        stop()
        watched.delete(namespace)
      }
      pods.forEach((names, namespace) => watch(namespace, names))
    },
    isSuspect: (pod) => watched.get(pod.namespace)?.isSuspect(pod) ?? false,
  }
}

/**
 * Asks for the Pods of all that are suspect, some at once, and tells of those that are gone. Returns when it should be
 * called again, in milliseconds; calls `onAnswer` when there was an answer.
 */
const inquirer = (
  { client, turns, random, onGone, onBug }: EnvoyPodsPorts,
  inquiries: Inquiries,
  isSuspect: (pod: PodRef) => boolean,
  onAnswer: () => void,
  signal: AbortSignal,
): (() => number) => {
  let asking = 0
  const hear = (inquiry: Inquiry, answer: PodAnswer): void => {
    const { id } = inquiry
    asking -= 1
    // It may not be asked about any more, or again.
    if (inquiries.get(id) === inquiry) {
      inquiries.set(id, answered(inquiry, answer, turns.clock.nowMs(), random()))
      if (answer._tag === 'Gone') onGone(id, answer.why)
    }
    onAnswer()
  }
  const ask = (inquiry: Inquiry): void => {
    asking += 1
    inquiries.set(inquiry.id, inquiry)
    void askPod(client, inquiry.pod, signal).then(
      (answer) => turns.run(() => hear(inquiry, answer)),
      onBug,
    )
  }
  return () => {
    const nowMs = turns.clock.nowMs()
    let nextMs = Infinity
    for (const inquiry of inquiries.values()) {
      if (asking >= maxAsking) break
      if (inquiry.phase !== 'Idle' || !isSuspect(inquiry.pod)) continue
      if (nowMs < inquiry.retryAtMs) nextMs = Math.min(nextMs, inquiry.retryAtMs)
      else ask({ ...inquiry, phase: 'Asking' })
    }
    return nextMs
  }
}
