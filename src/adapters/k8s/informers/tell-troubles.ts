import { alarm } from '../../../core/alarm.js'
import type { Clock } from '../../../ports/clock.js'
import type { InformerTrouble } from './informer.js'

/** After how long a trouble is told again, in milliseconds. */
export const tellAgainMs = 60_000

/** How often after that, in milliseconds: a log that goes on for days should say it, but not of nothing else. */
export const tellOnMs = 600_000

/** Those that begin within as long are told again together, in milliseconds: many namespaces fail at once. */
const beginEveryMs = 10_000

export interface TellingPorts {
  readonly clock: Clock
  /** All that there are at the moment. */
  readonly troubles: () => ReadonlyArray<InformerTrouble>
  readonly onTroubles: (troubles: ReadonlyArray<InformerTrouble>) => void
  /** Is told what `onTroubles` has thrown when nobody had called. */
  readonly onBug: (cause: unknown) => void
}

/**
 * Makes a function that looks at the troubles, and tells of them if they are others than before, until `signal`
 * aborts. Of those that stay it tells by itself, and says how long they last: what is told once is taken for over.
 * A place that is in trouble for another reason is still in trouble.
 */
export const troubleTeller = (
  { clock, troubles, onTroubles, onBug }: TellingPorts,
  signal: AbortSignal,
): (() => void) => {
  let since: ReadonlyMap<string, number> = new Map()
  let told: ReadonlyArray<InformerTrouble> = []
  const look = (): void => {
    const found = troubles()
    const nowMs = clock.nowMs()
    const beginMs = Math.ceil(nowMs / beginEveryMs) * beginEveryMs
    since = new Map(found.map(({ where }) => [where, since.get(where) ?? beginMs]))
    due.set(nextOf([...since.values()], nowMs))
    const now = found.map((each) => lasting(each, nowMs - (since.get(each.where) ?? nowMs)))
    if (!isSame(now, told)) onTroubles((told = now))
  }
  const due = alarm(clock, () => {
    try {
      look()
    } catch (cause) {
      onBug(cause)
    }
  })
  signal.addEventListener('abort', () => due.set(undefined), { once: true })
  return look
}

const nextOf = (begins: ReadonlyArray<number>, nowMs: number): number | undefined =>
  begins.length === 0 ? undefined : Math.min(...begins.map((at) => at + nextMs(nowMs - at)))

const lasting = (trouble: InformerTrouble, lastedMs: number): InformerTrouble => {
  const ms = toldMs(lastedMs)
  return ms === 0 ? trouble : { ...trouble, message: `${trouble.message} (for ${showMinutes(ms)})` }
}

/** The last time at which it was to be told, in milliseconds since it began. */
const toldMs = (lastedMs: number): number =>
  lastedMs < tellAgainMs
    ? 0
    : tellAgainMs + Math.floor((lastedMs - tellAgainMs) / tellOnMs) * tellOnMs

/** The next one. */
const nextMs = (lastedMs: number): number =>
  lastedMs < tellAgainMs ? tellAgainMs : toldMs(lastedMs) + tellOnMs

/** `1m`, `2h11m`. */
const showMinutes = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  const hours = Math.floor(minutes / 60)
  return `${hours === 0 ? '' : `${hours}h`}${minutes % 60}m`
}

const isSame = (a: ReadonlyArray<InformerTrouble>, b: ReadonlyArray<InformerTrouble>): boolean =>
  a.length === b.length &&
  a.every(({ where, message }, i) => where === b[i]?.where && message === b[i].message)
