import type { ClusterEvent } from './cluster-event.js'

/** Until when a repetition belongs to what was told before, in milliseconds: client-go's own figure. */
export const seriesMs = 360_000

/** How many different events are remembered for that; the ones told longest ago are forgotten. */
export const maxSeries = 1_000

/** How many events wait to be written: a fleet that is forgotten, or a namespace that ends, brings hundreds. */
export const maxWaiting = 500

/** What has been told already, so that repetitions are counted in one object and not in thousands. */
export interface Told {
  /** What the API server calls it. */
  readonly name: string
  readonly namespace: string
  readonly count: number
  readonly lastMs: number
}

/** What is to be written for an event. */
export type Writing =
  | { readonly _tag: 'Create' }
  | { readonly _tag: 'Count'; readonly told: Told; readonly count: number }

/** Two events are the same if they say the same of the same object. */
export const keyOfEvent = ({ regarding, type, reason, action, note }: ClusterEvent): string =>
  JSON.stringify([
    ...[regarding.apiVersion, regarding.kind, regarding.namespace, regarding.name],
    ...[regarding.uid ?? '', type, reason, action, note],
  ])

/** Whether this is told for the first time in a while, or once more. */
export const writingOf = (told: Told | undefined, nowMs: number): Writing =>
  told === undefined || nowMs - told.lastMs > seriesMs
    ? { _tag: 'Create' }
    : { _tag: 'Count', told, count: told.count + 1 }

/** Notes what was written; forgets what is too old to be counted, or too much. Costs O(`maxSeries`). */
export const remember = (
  series: ReadonlyMap<string, Told>,
  key: string,
  told: Told,
): ReadonlyMap<string, Told> => {
  const next = new Map(series)
  next.delete(key)
  next.set(key, told)
  for (const [each, { lastMs }] of next) {
    if (next.size <= maxSeries && told.lastMs - lastMs <= seriesMs) break
    next.delete(each)
  }
  return next
}
