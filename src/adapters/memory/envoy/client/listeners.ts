import { listenerType } from '../../../../core/type-url.js'
import { sameBytes } from './bytes.js'
import { inspect, type Need } from './inspect.js'
import type { ReceivedResource } from './messages.js'
import type { HeldResource } from './state.js'

/** Envoy's listener manager. */
export interface Listeners {
  /** Those that take new connections, once `serving`. */
  readonly active: ReadonlyMap<string, RunningListener>
  /** New listeners, and new forms of active ones, whose route table has not come. */
  readonly warming: ReadonlyMap<string, RunningListener>
  /** Removed and replaced ones whose connections go on, with their own tables. */
  readonly draining: ReadonlyArray<DrainingListener>
  /** All of the first listeners were ready once; before that no port is open. */
  readonly serving: boolean
  /** How many forms of listeners there were so far. */
  readonly count: number
}

export interface RunningListener extends HeldResource {
  /** Tells one form of a listener from the next, and from an equal one later. */
  readonly id: number
}

export interface DrainingListener extends RunningListener {
  readonly untilMs: number
}

export const noListeners: Listeners = {
  active: new Map(),
  warming: new Map(),
  draining: [],
  serving: false,
  count: 0,
}

/**
 * Removes listeners, then adds and changes some. Before an Envoy serves, nothing warms or drains.
 *
 * The form that a listener has already calls off another that warms.
 */
export const changeListeners = (
  listeners: Listeners,
  good: ReadonlyArray<ReceivedResource>,
  removed: ReadonlyArray<string>,
  drainUntilMs: number,
): Listeners => {
  const active = new Map(listeners.active)
  const warming = new Map(listeners.warming)
  const draining = [...listeners.draining]
  let { count } = listeners
  for (const name of removed) {
    const gone = active.get(name)
    if (gone !== undefined && listeners.serving) draining.push({ ...gone, untilMs: drainUntilMs })
    active.delete(name)
    warming.delete(name)
  }
  for (const { name, version, bytes } of good) {
    const [now, next] = [active.get(name), warming.get(name)]
    if (now !== undefined && sameBytes(now.bytes, bytes)) {
      active.set(name, { ...now, version })
      warming.delete(name)
    } else if (next !== undefined && sameBytes(next.bytes, bytes))
      warming.set(name, { ...next, version })
    else (listeners.serving ? warming : active).set(name, { version, bytes, id: (count += 1) })
  }
  return { ...listeners, active, warming, draining, count }
}

/**
 * Lets those listeners take connections whose tables are there; the form that was there drains. The
 * first ones wait for each other.
 */
export const warmUp = (
  listeners: Listeners,
  isReady: (listener: RunningListener) => boolean,
  drainUntilMs: number,
): Listeners => {
  if (!listeners.serving) {
    const serving = [...listeners.active.values()].every(isReady)
    return serving ? { ...listeners, serving } : listeners
  }
  const ready = [...listeners.warming].filter(([, listener]) => isReady(listener))
  if (ready.length === 0) return listeners
  const warming = new Map(listeners.warming)
  const active = new Map(listeners.active)
  const draining = [...listeners.draining]
  for (const [name, listener] of ready) {
    const old = active.get(name)
    if (old !== undefined) draining.push({ ...old, untilMs: drainUntilMs })
    warming.delete(name)
    active.set(name, listener)
  }
  return { ...listeners, active, warming, draining }
}

/** Lets those go that have drained for long enough. */
export const endDrains = (listeners: Listeners, nowMs: number): Listeners => {
  const draining = listeners.draining.filter(({ untilMs }) => untilMs > nowMs)
  return draining.length === listeners.draining.length ? listeners : { ...listeners, draining }
}

/** True where a listener runs in this form, or warms in it. */
export const hasForm = ({ active, warming }: Listeners, name: string, bytes: Uint8Array): boolean =>
  sameBytes(active.get(name)?.bytes, bytes) || sameBytes(warming.get(name)?.bytes, bytes)

/** Every form of a listener that there is, with the name of those that do not drain. */
export const allListeners = ({
  active,
  warming,
  draining,
}: Listeners): ReadonlyArray<readonly [name: string | undefined, listener: RunningListener]> => [
  ...active,
  ...warming,
  ...draining.map((listener) => [undefined, listener] as const),
]

/**
 * The route tables that these listeners name themselves, each once, those that drain included, and for how long it
 * is waited for.
 */
export const tableNeeds = (listeners: Listeners): ReadonlyMap<string, Need['fetchMs']> =>
  new Map(
    allListeners(listeners)
      .flatMap(([, listener]) => tablesOf(listener))
      .map(({ name, fetchMs }) => [name, fetchMs]),
  )

export const tablesOf = ({ bytes }: HeldResource): ReadonlyArray<Need> =>
  inspect(listenerType, bytes).needs
