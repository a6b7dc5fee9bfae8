import type { PodAnswer } from './ask-pod.js'
import { type PodRef, podOf } from './pod-of.js'

/** What is asked about one node. */
export interface Inquiry {
  readonly id: string
  readonly pod: PodRef
  /** `Told`: that it is gone was said, and nothing more is asked. */
  readonly phase: 'Idle' | 'Asking' | 'Told'
  /** How often in a row the API server did not say that it is gone. */
  readonly failures: number
  /** It is not asked before. */
  readonly retryAtMs: number
}

/** By node id. */
export type Inquiries = Map<string, Inquiry>

/** From now on about these nodes and no others; what is known of them stays. */
export const askAbout = (
  inquiries: Inquiries,
  nodes: ReadonlyArray<string>,
  mayLookAt: (namespace: string) => boolean,
): void => {
  const asked = new Set(nodes)
  for (const id of inquiries.keys()) if (!asked.has(id)) inquiries.delete(id)
  for (const id of asked) {
    const pod = inquiries.has(id) ? undefined : podOf(id)
    if (pod !== undefined && mayLookAt(pod.namespace))
      inquiries.set(id, { id, pod, phase: 'Idle', failures: 0, retryAtMs: -Infinity })
  }
}

/** The names of the Pods that have to be known, by namespace. */
export const podsIn = (
  inquiries: ReadonlyMap<string, Inquiry>,
): ReadonlyMap<string, ReadonlySet<string>> => {
  const namespaces = new Map<string, Set<string>>()
  for (const { pod, phase } of inquiries.values()) {
    if (phase === 'Told') continue
    const names = namespaces.get(pod.namespace)
    if (names === undefined) namespaces.set(pod.namespace, new Set([pod.name]))
    else names.add(pod.name)
  }
  return namespaces
}

/** The longest pause after a Pod was asked for in vain for the first time, in milliseconds; then twice as long each. */
const firstPauseMs = 1_000

/** The longest pause, in milliseconds: what has healed is found a minute later. */
const maxPauseMs = 60_000

/** The longest wait that a server may ask for, in milliseconds: beyond, it must be asked again anyway. */
const maxRetryAfterMs = 120_000

/** What becomes of an inquiry by an answer; `chance`, in [0, 1), spreads those that failed together. */
export const answered = (
  inquiry: Inquiry,
  answer: PodAnswer,
  nowMs: number,
  chance: number,
): Inquiry => {
  if (answer._tag === 'Gone') return { ...inquiry, phase: 'Told' }
  const ceilingMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(inquiry.failures, 30))
  const askedMs = answer._tag === 'Unknown' ? Math.min(answer.retryAfterMs, maxRetryAfterMs) : 0
  const retryAtMs = nowMs + Math.max((ceilingMs * (1 + chance)) / 2, askedMs)
  return { ...inquiry, phase: 'Idle', failures: inquiry.failures + 1, retryAtMs }
}
