import { type Clock, pause, systemClock } from '../../../ports/clock.js'
import { guardedLogger } from '../../../ports/faults.js'
import { type Logger, silentLogger } from '../../../ports/logger.js'
import type { ApiClient } from '../api.js'
import { objectIn } from '../informers/index.js'
import { ask } from '../objects/answer.js'
import type { ApiProblem } from '../objects/api-problem.js'
import { configMapAt, type Place, versionOf } from '../objects/places.js'
import {
  type ForgetAnswer,
  forgetRequestsName,
  patchRequests,
  readRequests,
  requestIn,
  type ForgetRequest,
} from './request.js'

/** How often it is looked whether somebody asks, in milliseconds: people wait for it, a server does not notice it. */
export const lookForRequestsMs = 2_000

/**
 * The longest that nobody looks because the server asks to be left alone, in milliseconds: people wait for twice as
 * long.
 */
export const maxRetryAfterMs = 10_000

/** How many requests are answered at a time; the others wait for the next look. */
const maxAtOnce = 50

/** How long an answer stays that nobody fetches, in milliseconds, by our own clock. */
const keepAnswerMs = 120_000

export interface ServeForgetRequestsOptions {
  /** That of the control plane. */
  readonly namespace: string
  /** Forgets an Envoy. What it rejects with is told to whoever has asked. */
  readonly forget: (id: string) => Promise<ForgetAnswer>
  /**
   * Whether this control plane is the one that counts, as `keepLease` tells; always if absent. As long as it is not,
   * nothing is forgotten, answered or removed: the one that counts does it.
   */
  readonly isHeld?: (() => boolean) | undefined
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
}

/**
 * Answers to those who ask, by `askToForget`, that an Envoy be forgotten, until `signal` aborts. Never rejects.
 *
 * Each request is carried out once: where the answer could not be written it is written later, as long as the request
 * is there. Answers that nobody fetches, and what is no request, are removed.
 *
 * Needs the permissions to get and patch ConfigMaps in the namespace.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const serveForgetRequests = async (
  client: ApiClient,
  options: ServeForgetRequestsOptions,
  signal: AbortSignal,
): Promise<void> => {
  const clock = options.clock ?? systemClock
  const logger = guardedLogger(options.logger ?? silentLogger)
  const place = configMapAt(options.namespace, forgetRequestsName)
  const { forget, isHeld = () => true } = options
  const ports: Ports = { client, place, clock, forget, isHeld }
  let memory = nothing
  let trouble: string | undefined
  while (!signal.aborted) {
    const { memory: next, problem } = isHeld()
      ? await look(ports, memory, signal)
      : { memory, problem: undefined }
    memory = next
    if (problem !== undefined && problem.message !== trouble)
      logger.log('warn', 'requests to forget Envoys cannot be seen or answered', {
        error: problem.message,
      })
    trouble = problem?.message
    const askedMs = Math.min(problem?.retryAfterMs ?? 0, maxRetryAfterMs)
    await pause(clock, Math.max(lookForRequestsMs, askedMs), signal)
  }
}

interface Ports {
  readonly client: ApiClient
  readonly place: Place
  readonly clock: Clock
  readonly forget: (id: string) => Promise<ForgetAnswer>
  readonly isHeld: () => boolean
}

/** What is remembered from one look to the next, of what is still there. */
interface Memory {
  /** The answers that have been found, by the nonce of their request. */
  readonly answers: ReadonlyMap<string, ForgetAnswer>
  /** When an answer was first seen that nobody has fetched, by its nonce. */
  readonly answered: ReadonlyMap<string, number>
}

const nothing: Memory = { answers: new Map(), answered: new Map() }

interface Looked {
  readonly memory: Memory
  /** Why it could not be done. */
  readonly problem: ApiProblem | undefined
}

type Change = readonly [key: string, request: ForgetRequest | undefined]

const look = async (ports: Ports, memory: Memory, signal: AbortSignal): Promise<Looked> => {
  const { client, place, clock, isHeld } = ports
  const found = await ask(client, readRequests(place), `read ${place.shown}`, signal)
  if (found._tag === 'Missing') return { memory: nothing, problem: undefined }
  if (found._tag !== 'Done') return { memory, problem: found.problem }
  // Another may have the lease by now, and answer.
  if (!isHeld()) return { memory, problem: undefined }
  const entries = Object.entries(objectIn(found.object, 'data')).map(
    ([key, text]) => [key, requestIn(text)] as const,
  )
  const nowMs = clock.nowMs()
  const due = entries.filter(([, request]) => isDue(request, memory, nowMs)).slice(0, maxAtOnce)
  const next = await answerAll(ports, due, remembered(memory, entries, nowMs))
  if (due.length === 0) return { memory: next, problem: undefined }
  const changes = due.map(([key, request]) => changeOf(key, request, next))
  // Guarded, so that a newer request is not replaced by the answer to an older one.
  const patch = patchRequests(place, changes, versionOf(found.object))
  const written = await ask(client, patch, `answer in ${place.shown}`, signal)
  return { memory: next, problem: written._tag === 'Problem' ? written.problem : undefined }
}

/** It is no request, has no answer, or has one that nobody fetches. */
const isDue = (request: ForgetRequest | undefined, { answered }: Memory, nowMs: number): boolean =>
  request?.answer === undefined || nowMs - (answered.get(request.nonce) ?? nowMs) >= keepAnswerMs

/** What is there no more is remembered no more. */
const remembered = (
  { answers, answered }: Memory,
  entries: ReadonlyArray<Change>,
  nowMs: number,
): Memory => {
  const requests = entries.flatMap(([, request]) => (request === undefined ? [] : [request]))
  return {
    answers: new Map(
      requests.flatMap(({ nonce, answer }) => {
        const known = answers.get(nonce)
        return known === undefined || answer !== undefined ? [] : [[nonce, known] as const]
      }),
    ),
    answered: new Map(
      requests
        .filter(({ answer }) => answer !== undefined)
        .map(({ nonce }) => [nonce, answered.get(nonce) ?? nowMs] as const),
    ),
  }
}

/** Finds the answers that are not found yet, all at once: each may wait for a roster to be written. */
const answerAll = async (
  { forget }: Ports,
  due: ReadonlyArray<Change>,
  memory: Memory,
): Promise<Memory> => {
  const answers = new Map(memory.answers)
  await Promise.all(
    due.map(async ([, request]) => {
      if (request === undefined || request.answer !== undefined || answers.has(request.nonce))
        return
      answers.set(request.nonce, await answerTo(forget, request.id))
    }),
  )
  return { ...memory, answers }
}

const changeOf = (key: string, request: ForgetRequest | undefined, { answers }: Memory): Change => {
  const answer = request === undefined ? undefined : answers.get(request.nonce)
  return [key, request === undefined || answer === undefined ? undefined : { ...request, answer }]
}

const answerTo = async (
  forget: (id: string) => Promise<ForgetAnswer>,
  id: string,
): Promise<ForgetAnswer> => {
  try {
    return await forget(id)
  } catch (cause) {
    return { failure: String(cause) }
  }
}
