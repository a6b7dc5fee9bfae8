import { type Clock, pause, systemClock } from '../../ports/clock.js'
import { guardedLogger } from '../../ports/faults.js'
import { type Logger, silentLogger } from '../../ports/logger.js'
import type { ApiClient, ApiRequest } from './api.js'
import type { ClusterEvent } from './events/cluster-event.js'
import { eventLine } from './events/line.js'
import { countEvent, createEvent, nameOfEvent } from './events/requests.js'
import { keyOfEvent, maxWaiting, remember, type Told, writingOf } from './events/series.js'
import { type Answer, ask, askedPauseMs } from './objects/answer.js'

export type { ClusterEvent } from './events/cluster-event.js'

export interface KubernetesEventsOptions {
  /** Names this control plane. */
  readonly identity: string
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
}

/** Tells a cluster what happens. */
export interface KubernetesEvents {
  /** Tells of something, some time soon. Never throws and never waits. */
  readonly emit: (event: ClusterEvent) => void
  /** Resolves once the signal has aborted, and what was told of until then is written or given up. Never rejects. */
  readonly finished: Promise<void>
}

/** How often one event is tried: what is not written by then is old. */
const maxTries = 3

/** How long the pause before another try is, in milliseconds; the next one is four times as long. */
const retryMs = 500

/** The least time between two writes, in milliseconds: no more than 20 a second, whatever happens. */
const spacingMs = 50

/**
 * The longest that nothing is told because the server asks to be left alone, in milliseconds: an Event that comes much
 * later helps nobody.
 */
const maxRetryAfterMs = 30_000

/** How long the end waits for what is still to be told, in milliseconds. */
const flushMs = 3_000

/**
 * Writes Events (events.k8s.io/v1), one after the other.
 *
 * The same of the same object within six minutes becomes one Event that counts. Events are a courtesy: where too many
 * wait (`maxWaiting`), or one cannot be written, they are dropped, and the log says so, once until one is written
 * again. Warnings are told first, and dropped last. Where the server asks to be left alone, nothing is told for so long
 * (`maxRetryAfterMs` at most).
 *
 * Needs the permissions to create and patch Events in the namespaces of what they are about.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const kubernetesEvents = (
  client: ApiClient,
  options: KubernetesEventsOptions,
  signal: AbortSignal,
): KubernetesEvents => {
  const { identity, clock = systemClock } = options
  const logger = guardedLogger(options.logger ?? silentLogger)
  const ended = new AbortController()
  const waiting = eventLine(maxWaiting)
  const complaints = complaintsTo(logger)
  const tell = teller({ send: politely(client, clock), clock, identity }, complaints, ended.signal)
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted && (waiting.size() > 0 || !signal.aborted)) {
      const event = waiting.take()
      if (event === undefined) await waiting.woken()
      else {
        await tell(event)
        await pause(clock, spacingMs, ended.signal)
      }
    }
  }
  const end = (): void => {
    clock.after(flushMs, () => ended.abort())
    waiting.wake()
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return {
    emit: (event) => {
      if (signal.aborted) return
      if (!waiting.put(event)) complaints.complain(`${maxWaiting} others wait already`)
    },
    finished: run().catch((bug: unknown) => complaints.complain(String(bug))),
  }
}

/** Says once that Events cannot be told, until one is. */
interface Complaints {
  readonly complain: (error: string) => void
  readonly isWell: () => void
}

const complaintsTo = (logger: Logger): Complaints => {
  let isQuiet = false
  return {
    complain: (error) => {
      if (!isQuiet) logger.log('warn', 'an Event could not be told to the cluster', { error })
      isQuiet = true
    },
    isWell: () => {
      isQuiet = false
    },
  }
}

/** Tells of one thing after the other; what is told again counts. */
const teller = (
  ports: EventPorts,
  { complain, isWell }: Complaints,
  signal: AbortSignal,
): ((event: ClusterEvent) => Promise<void>) => {
  let series: ReadonlyMap<string, Told> = new Map()
  return async (event) => {
    const key = keyOfEvent(event)
    const result = await write(ports, event, series.get(key), signal)
    if (typeof result === 'string') return complain(result)
    series = remember(series, key, result)
    isWell()
  }
}

type Send = (request: ApiRequest, what: string, signal: AbortSignal) => Promise<Answer>

/** Sends one request after the other, none before the server has been left alone for as long as it asked for. */
const politely = (client: ApiClient, clock: Clock): Send => {
  let silentUntilMs = -Infinity
  return async (request, what, signal) => {
    const leftMs = silentUntilMs - clock.nowMs()
    if (leftMs > 0) await pause(clock, leftMs, signal)
    const answer = await ask(client, request, what, signal)
    const askedMs = askedPauseMs(answer)
    silentUntilMs = clock.nowMs() + Math.min(askedMs, maxRetryAfterMs)
    return answer
  }
}

interface EventPorts {
  readonly send: Send
  readonly clock: Clock
  readonly identity: string
}

/** What is known of it then; or why it was not written. */
const write = async (
  { send, clock, identity }: EventPorts,
  event: ClusterEvent,
  told: Told | undefined,
  signal: AbortSignal,
): Promise<Told | string> => {
  const { namespace } = event.regarding
  const firstMs = clock.nowMs()
  const name = nameOfEvent(event, identity, firstMs)
  let before = told
  let problem = 'there was no time'
  for (let i = 0; i < maxTries && !signal.aborted; i += 1) {
    if (i > 0) await pause(clock, retryMs * 4 ** (i - 1), signal)
    const nowMs = clock.nowMs()
    const writing = writingOf(before, nowMs)
    const request =
      writing._tag === 'Create'
        ? createEvent(event, name, identity, firstMs)
        : countEvent(writing.told, writing.count, nowMs)
    const what = `tell of ${event.reason} in namespace ${namespace}`
    const answer = await send(request, what, signal)
    if (isWritten(answer, writing._tag))
      return writing._tag === 'Create'
        ? { name, namespace, count: 1, lastMs: nowMs }
        : { ...writing.told, count: writing.count, lastMs: nowMs }
    if (answer._tag === 'Done') continue
    problem = answer.problem.message
    // One that was counted may have been removed, as Events are after an hour: it is told anew.
    if (answer._tag === 'Missing' && writing._tag === 'Count') before = undefined
    else if (answer._tag !== 'Problem' || !answer.isPassing) return problem
  }
  return problem
}

/** An earlier try may have been done although its answer was lost: then there is one of this name. */
const isWritten = (answer: Answer, kind: 'Create' | 'Count'): boolean =>
  answer._tag === 'Done' ||
  (kind === 'Create' && answer._tag === 'Conflict' && answer.alreadyExists)
