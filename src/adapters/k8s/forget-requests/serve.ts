import { type Clock, systemClock } from '../../../ports/clock.js'
import { guardedLogger } from '../../../ports/faults.js'
import { type Logger, silentLogger } from '../../../ports/logger.js'
import type { ApiClient } from '../api.js'
import { objectIn, textIn } from '../informers/index.js'
import { ask } from '../objects/answer.js'
import { pause } from '../objects/pause.js'
import { configMapAt, type Place } from '../objects/places.js'
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

/** How many requests are answered at a time; the others wait for the next look. */
const maxAtOnce = 50

/** How long an answer stays that nobody fetches, in milliseconds, by our own clock. */
const keepAnswerMs = 120_000

export interface ServeForgetRequestsOptions {
  /** That of the control plane. */
  readonly namespace: string
  /** Forgets an Envoy. What it rejects with is told to whoever has asked. */
  readonly forget: (id: string) => Promise<ForgetAnswer>
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
}

/**
 * Answers to those who ask, by `askToForget`, that an Envoy be forgotten, until `signal` aborts. Never rejects.
 *
 * A request that was answered while the answer could not be written is answered again: to forget is the same twice.
 * Answers that nobody fetches, and what is no request, are removed.
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
  const ports: Ports = { client, place, clock, forget: options.forget }
  const answered = new Map<string, number>()
  let trouble: string | undefined
  while (!signal.aborted) {
    const problem = await look(ports, answered, signal)
    if (problem !== undefined && problem !== trouble)
      logger.log('warn', 'requests to forget Envoys cannot be seen or answered', { error: problem })
    trouble = problem
    await pause(clock, lookForRequestsMs, signal)
  }
}

interface Ports {
  readonly client: ApiClient
  readonly place: Place
  readonly clock: Clock
  readonly forget: (id: string) => Promise<ForgetAnswer>
}

/** Why it could not be done. `answered` has when each entry that has its answer was first seen. */
const look = async (
  { client, place, clock, forget }: Ports,
  answered: Map<string, number>,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const found = await ask(client, readRequests(place), `read ${place.shown}`, signal)
  if (found._tag === 'Missing') return undefined
  if (found._tag !== 'Done') return found.problem.message
  const data = objectIn(found.object, 'data')
  for (const key of answered.keys()) if (textIn(data, key) === undefined) answered.delete(key)
  const changes: Array<readonly [string, ForgetRequest | undefined]> = []
  for (const [key, text] of Object.entries(data)) {
    if (changes.length >= maxAtOnce || signal.aborted) break
    const request = requestIn(text)
    if (request === undefined) changes.push([key, undefined])
    else if (request.answer === undefined)
      changes.push([key, { ...request, answer: await answerTo(forget, request.id) }])
    else if (isOld(answered, key, clock.nowMs())) changes.push([key, undefined])
  }
  if (changes.length === 0) return undefined
  const written = await ask(
    client,
    patchRequests(place, changes),
    `answer in ${place.shown}`,
    signal,
  )
  return written._tag === 'Done' || written._tag === 'Missing' ? undefined : written.problem.message
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

const isOld = (answered: Map<string, number>, key: string, nowMs: number): boolean => {
  const sinceMs = answered.get(key)
  if (sinceMs === undefined) answered.set(key, nowMs)
  return sinceMs !== undefined && nowMs - sinceMs >= keepAnswerMs
}
