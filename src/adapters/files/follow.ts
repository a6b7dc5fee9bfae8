import * as E from 'fp-ts/lib/Either.js'
import type { Clock } from '../../ports/clock.js'
import type { SourceError, SourceState } from '../../ports/route-source.js'
import { bellOf } from './bell.js'
import { hintsOf } from './hints.js'
import { scan, type Scan, type ScanCache } from './scan.js'
import { type FilesEffect, type FilesEvent, type FilesState, initial, step } from './state.js'

/** How long after a hint a scan begins, so that one burst of writes is one scan. */
const debounceMs = 50

/** The longest time between two scans, for what no hint tells of. */
const rescanMs = 1_000

/** A scan of a huge directory takes longer: scans get at most a tenth of the time, or so. */
const restPerScan = 9

/** Bounds the rest after a scan that took long for once, since the disk had to wake up, say. */
const maxRestMs = 10_000

/**
 * Follows a directory until `signal` aborts: scans it, lets the machine decide, and does what it
 * says.
 *
 * Never rejects. Ends with a left if the directory cannot be read at the very start, or `onState`
 * throws. Leaves no timer and no watch behind.
 */
export const follow = async (
  directory: string,
  clock: Clock,
  onState: (state: SourceState) => void,
  signal: AbortSignal,
): Promise<E.Either<SourceError, void>> => {
  const bell = bellOf(clock, signal)
  const hints = hintsOf(directory, bell.ring)
  const isStopped = (): boolean => signal.aborted
  let state: FilesState = initial
  let cache: ScanCache = new Map()
  try {
    while (!isStopped()) {
      const startedAtMs = clock.nowMs()
      const seen = await scan(directory, cache, isStopped)
      if (isStopped()) break
      const endedAtMs = clock.nowMs()
      const [next, effects] = step(state, eventOf(seen, startedAtMs, endedAtMs))
      state = next
      if (E.isRight(seen)) cache = seen.right.cache
      // What changed between the scan and the new watch was seen by neither.
      if (hints.follow(E.isRight(seen) ? seen.right.directories : [])) bell.ring()
      for (const effect of effects) {
        if (effect._tag === 'GiveUp') return E.left(unavailable(effect.message, undefined))
        if (effect._tag === 'Publish') onState(effect.state)
      }
      const restMs = Math.max(rescanMs, (endedAtMs - startedAtMs) * restPerScan)
      const maxMs = Math.min(restMs, maxRestMs, untilNext(effects, clock.nowMs()))
      await bell.sleep(maxMs, debounceMs)
    }
    return E.right(undefined)
  } catch (cause) {
    return E.left(unavailable(`following the directory ${directory} failed`, cause))
  } finally {
    hints.close()
  }
}

export const eventOf = (
  seen: E.Either<string, Scan>,
  startedAtMs: number,
  endedAtMs: number,
): FilesEvent => {
  if (E.isLeft(seen)) return { _tag: 'DirectoryUnreadable', nowMs: endedAtMs, message: seen.left }
  const { files, directories, gaps } = seen.right
  return { _tag: 'Scanned', startedAtMs, endedAtMs, files, directories, gaps }
}

export const unavailable = (message: string, cause: unknown): SourceError => ({
  _tag: 'Unavailable',
  message,
  cause,
})

const untilNext = (effects: ReadonlyArray<FilesEffect>, nowMs: number): number =>
  effects.reduce(
    (ms, effect) =>
      effect._tag === 'ScanAgain' ? Math.min(ms, Math.max(0, effect.atMs - nowMs)) : ms,
    Infinity,
  )
