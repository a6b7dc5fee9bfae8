import * as E from 'fp-ts/lib/Either.js'
import type { EdgeRoute, RouteKey } from '../../core/edge-route.js'
import { compareStrings } from '../../core/order.js'
import type {
  RouteSource,
  SourceError,
  SourceProblem,
  SourceState,
} from '../../ports/route-source.js'

/** A `RouteSource` whose content is set by hand. Watchers are told before a change returns. */
export interface MemoryRouteSource extends RouteSource {
  /** Makes these the routes. Of two with one uid the later counts. */
  readonly set: (routes: Iterable<EdgeRoute>) => void
  /** Adds a route, or replaces the one with its uid. */
  readonly apply: (route: EdgeRoute) => void
  /** Removes the route with a uid, or the routes with a name; no matter if there is none. */
  readonly delete: (which: string | RouteKey) => void
  /** Makes these the problems. The routes stay as they are. */
  readonly report: (problems: Iterable<SourceProblem>) => void
  /** What a watcher would be told first. */
  readonly current: () => SourceState
}

/**
 * Routes in memory, with the semantics of the other sources.
 *
 * Routes are served as they are given: uid, generation and timestamps are the caller's. A route that is set
 * again in an equal form stays the object that it was, and a change that changes nothing tells nobody.
 */
export const memoryRouteSource = (initial: Iterable<EdgeRoute> = []): MemoryRouteSource => {
  const watchers = new Set<() => void>()
  let state: SourceState = { routes: byUid(initial, []), problems: [] }
  const become = (next: SourceState): void => {
    if (isUnchanged(state, next)) return
    state = next
    for (const tell of [...watchers]) if (watchers.has(tell)) tell()
  }
  const set = (routes: Iterable<EdgeRoute>): void => {
    become({ ...state, routes: byUid(routes, state.routes) })
  }
  return {
    set,
    apply: (route) => {
      set([...state.routes, route])
    },
    delete: (which) => {
      set(state.routes.filter((route) => !isMeant(route, which)))
    },
    report: (problems) => {
      const sorted = [...problems].sort((a, b) => compareStrings(a.where, b.where))
      become({ ...state, problems: sorted })
    },
    current: () => state,
    watch: (onState, signal) => () => watchUntil(signal, onState, () => state, watchers),
  }
}

/** Watches until the signal aborts, or the watcher throws. */
const watchUntil = (
  signal: AbortSignal,
  onState: (state: SourceState) => void,
  latest: () => SourceState,
  watchers: Set<() => void>,
): Promise<E.Either<SourceError, void>> =>
  new Promise((resolve) => {
    const end = (result: E.Either<SourceError, void>): void => {
      watchers.delete(tell)
      signal.removeEventListener('abort', stop)
      resolve(result)
    }
    const stop = (): void => {
      end(E.right(undefined))
    }
    const tell = tellerOf(latest, onState, signal, (cause) => {
      end(E.left({ _tag: 'Unavailable', message: 'the watcher threw', cause }))
    })
    if (signal.aborted) {
      stop()
      return
    }
    signal.addEventListener('abort', stop)
    watchers.add(tell)
    tell()
  })

/** Tells one watcher the latest state. A watcher that changes the source is told of it afterwards. */
const tellerOf = (
  latest: () => SourceState,
  onState: (state: SourceState) => void,
  signal: AbortSignal,
  onThrow: (cause: unknown) => void,
): (() => void) => {
  let told: SourceState | undefined
  let telling = false
  return () => {
    if (telling) return
    telling = true
    try {
      while (!signal.aborted && told !== latest()) {
        told = latest()
        onState(told)
      }
    } catch (cause) {
      onThrow(cause)
    } finally {
      telling = false
    }
  }
}

/** Each uid once, in their order; in the form of before where it is equal. */
const byUid = (
  routes: Iterable<EdgeRoute>,
  before: ReadonlyArray<EdgeRoute>,
): ReadonlyArray<EdgeRoute> => {
  const known = new Map(before.map((route) => [route.metadata.uid, route]))
  const latest = new Map([...routes].map((route) => [route.metadata.uid, route]))
  return [...latest]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([uid, route]) => {
      const same = known.get(uid)
      return same !== undefined && isEqual(same, route) ? same : route
    })
}

const isMeant = ({ metadata }: EdgeRoute, which: string | RouteKey): boolean =>
  typeof which === 'string'
    ? metadata.uid === which
    : metadata.namespace === which.namespace && metadata.name === which.name

const isUnchanged = (before: SourceState, next: SourceState): boolean =>
  before.routes.length === next.routes.length &&
  before.routes.every((route, i) => route === next.routes[i]) &&
  isEqual(before.problems, next.problems)

/** Compares plain data; a field that is `undefined` counts as absent. */
const isEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  return Object.keys({ ...a, ...b }).every((key) => isEqual(a[key], b[key]))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
