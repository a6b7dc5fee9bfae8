import * as E from 'fp-ts/lib/Either.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'
import type { RouteSource, SourceState } from '../ports/route-source.js'
import { backoffMs, maxBackoffMs } from './backoff.js'
import { pause } from './clock.js'

export interface SupervisePorts {
  readonly source: RouteSource
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly metrics: Metrics
}

/** A source that was up for this long was well: its next failure is a first one again. */
const wellAfterMs = 2 * maxBackoffMs

/**
 * Watches a source until `signal` aborts, and starts it again, with backoff, each time that it ends
 * by itself. A reason is logged when it appears, not at each try; so is the recovery.
 */
export const superviseSource = async (
  { source, clock, random, logger, metrics }: SupervisePorts,
  onState: (state: SourceState) => void,
  signal: AbortSignal,
): Promise<void> => {
  let failures = 0
  let reported: string | undefined
  const recovered = (): void => {
    if (reported !== undefined) logger.log('info', 'the source of routes is back')
    reported = undefined
  }
  const stopped = (): boolean => signal.aborted
  while (!stopped()) {
    const startedAtMs = clock.nowMs()
    const reason = await watchOnce(source, (state) => (recovered(), onState(state)), signal)
    if (stopped()) return
    failures = clock.nowMs() - startedAtMs >= wellAfterMs ? 1 : failures + 1
    const delayMs = Math.round(backoffMs(failures, random()))
    metrics.add('edgewright_source_restarts_total', {}, 1)
    const level = reason === reported ? 'debug' : 'warn'
    logger.log(level, 'the source of routes ended, and is started again', { reason, delayMs })
    reported = reason
    await pause(clock, delayMs, signal)
  }
}

/**
 * Watches until the source ends; resolves with the reason. What it says after its end is not heard,
 * and what it forgot to stop is told to.
 */
const watchOnce = async (
  source: RouteSource,
  onState: (state: SourceState) => void,
  signal: AbortSignal,
): Promise<string> => {
  const ended = new AbortController()
  const heard = (state: SourceState): void => {
    if (!ended.signal.aborted) onState(state)
  }
  const end = await source.watch(heard, AbortSignal.any([signal, ended.signal]))()
  ended.abort()
  return E.isLeft(end) ? end.left.message : 'it ended without a reason'
}
