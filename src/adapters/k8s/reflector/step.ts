import { entries, get, type PersistentMap, remove, set } from '../../../core/persistent-map.js'
import { draw, seedOf } from './chance.js'
import { changeSelection, fetched, fetchFailed, fetchOwed, tell } from './fetches.js'
import { drop, nothingHeld, type Objects, put, type Reflected, replace } from './holdings.js'
import { healthyWatchMs } from './limits.js'
import { ended, hasLasted, recover, resume, wellAgain } from './recover.js'
import { beginList, beginWatch, giveUpMs, nextPage } from './requests.js'
import { hear, listEnds, mayAsk, selectionOf, wants } from './selection.js'
import type {
  Phase,
  Reflector,
  ReflectorEvent,
  ReflectorOptions,
  ReflectorStep,
  Sighting,
} from './state.js'

export interface Beginning extends ReflectorOptions {
  /** Decides all that is left to chance: when to try again, and how long a watch lasts. */
  readonly entropy: number
  /** Whether to list by a watch, from a server that can. */
  readonly watchList: boolean
  /** The groups that are kept at first; everything is kept if absent. */
  readonly groups: Iterable<string> | undefined
}

/** Nothing is known yet, and everything is asked for. */
export const begin = <A>(beginning: Beginning, nowMs: number): ReflectorStep<A> => {
  const { entropy, watchList, groups, pageSize, relistMs } = beginning
  const state: Reflector<A> = {
    options: { pageSize, relistMs },
    held: nothingHeld,
    selection: groups && selectionOf(groups),
    isSynced: false,
    phase: { _tag: 'Pausing', untilMs: nowMs, resourceVersion: undefined },
    attempt: 0,
    seed: seedOf(entropy),
    troubles: 0,
    trouble: undefined,
    listsBy: watchList ? 'WatchList' : 'Pages',
    expiries: 0,
    silences: 0,
    relistAtMs: Infinity,
  }
  return beginList(state, nowMs)
}

/**
 * Follows the objects of a server: lists them, watches from there, and begins again where something goes wrong.
 *
 * | phase      | event                                  | next                            | effects      |
 * | ---------- | -------------------------------------- | ------------------------------- | ------------ |
 * | Listing    | Listed, with a page to follow          | Listing                         | List         |
 * | Listing    | Listed, the last page                  | Watching, with what is listed   | Tell, Watch  |
 * | Listing    | Failed, also as 410 between two pages  | Pausing, then a list            | Stop         |
 * | Collecting | Applied, Deleted                       | Collecting                      |              |
 * | Collecting | Bookmarked, at the end of what there is | Watching, with what is listed  | Tell         |
 * | Collecting | Failed, as the server has no watch-list | Listing, from now on           | List         |
 * | Collecting | Ticked, nothing came for too long      | Listing, from now on            | List         |
 * | Collecting | Ended, Failed otherwise                | Pausing, then a list            | Stop         |
 * | Watching   | Applied, Deleted                       | Watching, with it               | Tell         |
 * | Watching   | Bookmarked                             | Watching, from there            |              |
 * | Watching   | Ended, after it has lasted             | Watching                        | Watch        |
 * | Watching   | Ended early, Failed                    | Pausing, then a watch or a list | Stop         |
 * | Watching   | Failed, as 410 in whatever form        | Pausing, then a list            | Stop         |
 * | Watching   | Ticked, a list is due                  | Listing or Collecting           | List, Watch  |
 * | Pausing    | Ticked, it is over                     | as when it began                | List, Watch  |
 * | any        | Selected, Ticked                       | with what is owed asked for     | Tell, Fetch  |
 * | any        | Fetched, FetchFailed                   | with it, or owed again          | Tell         |
 *
 * Every other pair changes nothing, and news of a request that is not the last one comes too late. The first
 * failure is not waited out: Pausing is left at once.
 *
 * Guarantees: what is held is what the server had at one moment, with what it told since, in its order; it stays
 * while the server is away. An object is told as deleted only when a watch said so, a complete list lacked it, or it
 * is not wanted any more. One that was deleted and made again in a gap is deleted, then added.
 *
 * Assumes that a list without a resource version shows the present, as Kubernetes promises, so that time does not
 * go back: resource versions are only ever compared for equality.
 *
 * Costs O(log n) for each object that a watch tells of, and O(n log n) for a list.
 */
export const step = <A>(
  state: Reflector<A>,
  event: ReflectorEvent<A>,
  nowMs: number,
): ReflectorStep<A> => {
  if ('attempt' in event && event.attempt !== state.attempt) return [state, []]
  switch (event._tag) {
    case 'Listed':
      return listed(state, event, nowMs)
    case 'Applied':
    case 'Deleted':
      return seen(state, event, nowMs)
    case 'Bookmarked':
      return bookmarked(state, event, nowMs)
    case 'Ended':
      return ended(state, nowMs)
    case 'Failed':
      return recover(state, event.failure, nowMs)
    case 'Ticked':
      return ticked(state, nowMs)
    case 'Selected':
      return changeSelection(state, event, nowMs)
    case 'Fetched':
      return fetched(state, event.wish, event.items, nowMs)
    case 'FetchFailed':
      return fetchFailed(state, event.wish, event.failure, nowMs)
  }
}

type Event<A, Tag> = ReflectorEvent<A> & { readonly _tag: Tag }

const listed = <A>(
  state: Reflector<A>,
  { items, next, ...page }: Event<A, 'Listed'>,
  nowMs: number,
): ReflectorStep<A> => {
  if (state.phase._tag !== 'Listing') return [state, []]
  const draft = items.reduce(sketch, state.phase.draft)
  const resourceVersion = state.phase.resourceVersion ?? page.resourceVersion
  if (next !== undefined)
    return nextPage({ ...state, phase: { _tag: 'Listing', draft, resourceVersion } }, next)
  const [complete, told] = completed(state, draft, nowMs)
  const [watching, effects] = beginWatch(complete, resourceVersion, nowMs)
  const [last, fetches] = fetchOwed(watching, [], nowMs)
  return [last, [...told, ...effects, ...fetches]]
}

/** Puts an object into a draft, or takes it out. */
const sketch = <A>(draft: Objects<A>, sighting: Sighting<A>): Objects<A> => {
  const object = reflectedOf(sighting)
  return object === undefined ? remove(draft, sighting.name) : set(draft, object)
}

const reflectedOf = <A>({ value, ...rest }: Sighting<A>): Reflected<A> | undefined =>
  value === undefined ? undefined : { ...rest, value }

/** Takes a complete list in place of what was held. */
const completed = <A>(before: Reflector<A>, draft: Objects<A>, nowMs: number): ReflectorStep<A> => {
  const [held, changes] = replace(before.held, wantedOf(before, draft))
  const [chance, seed] = draw(before.seed)
  const { relistMs } = before.options
  const state = {
    ...before,
    held,
    seed,
    selection: before.selection && listEnds(before.selection),
    isSynced: true,
    expiries: 0,
    silences: 0,
    // Reflectors that began together should not list together.
    relistAtMs: relistMs > 0 ? nowMs + relistMs * (1 + chance / 10) : Infinity,
  }
  return [state, tell(changes)]
}

/** What is wanted may have changed since it was listed. */
const wantedOf = <A>(
  { selection }: Reflector<A>,
  draft: Objects<A>,
): PersistentMap<Reflected<A>> => {
  if (selection === undefined) return draft
  let wanted = draft
  for (const { name, group } of entries(draft))
    if (!wants(selection, group)) wanted = remove(wanted, name)
  return wanted
}

const seen = <A>(
  state: Reflector<A>,
  { _tag, object }: Event<A, 'Applied' | 'Deleted'>,
  nowMs: number,
): ReflectorStep<A> => {
  const { phase } = state
  if (phase._tag === 'Collecting') {
    const isGone = _tag === 'Deleted' && get(phase.draft, object.name)?.uid === object.uid
    const draft = isGone
      ? remove(phase.draft, object.name)
      : _tag === 'Deleted'
        ? phase.draft
        : sketch(phase.draft, object)
    return [{ ...state, phase: { ...phase, draft, heardMs: nowMs } }, []]
  }
  if (phase._tag !== 'Watching') return [state, []]
  const reflected = reflectedOf(object)
  const [held, changes] =
    _tag === 'Deleted'
      ? drop(state.held, object.name, object.uid)
      : reflected === undefined
        ? drop(state.held, object.name)
        : put(state.held, reflected)
  const selection = state.selection && hear(state.selection, object.name)
  return [{ ...advance(state, phase, object.resourceVersion), held, selection }, tell(changes)]
}

/** The watch is alive, and has come this far. */
const advance = <A>(
  state: Reflector<A>,
  phase: Phase<A> & { readonly _tag: 'Watching' },
  resourceVersion: string,
): Reflector<A> => ({ ...state, phase: { ...phase, resourceVersion }, silences: 0 })

const bookmarked = <A>(
  state: Reflector<A>,
  { resourceVersion, endsInitialEvents }: Event<A, 'Bookmarked'>,
  nowMs: number,
): ReflectorStep<A> => {
  const { phase } = state
  if (phase._tag === 'Watching') return [advance(state, phase, resourceVersion), []]
  if (phase._tag !== 'Collecting') return [state, []]
  if (!endsInitialEvents) return [{ ...state, phase: { ...phase, heardMs: nowMs } }, []]
  const [complete, told] = completed(state, phase.draft, nowMs)
  const watching = { _tag: 'Watching' as const, resourceVersion, sinceMs: nowMs }
  const [last, fetches] = fetchOwed({ ...complete, phase: watching }, [], nowMs)
  return [last, [...told, ...fetches]]
}

const ticked = <A>(state: Reflector<A>, nowMs: number): ReflectorStep<A> => {
  const { phase } = state
  switch (phase._tag) {
    case 'Listing':
      return [state, []]
    case 'Collecting':
      return nowMs < giveUpMs(phase.heardMs)
        ? [state, []]
        : beginList({ ...state, listsBy: 'Pages' }, nowMs)
    case 'Watching':
      if (nowMs >= state.relistAtMs) return beginList(state, nowMs)
      return fetchOwed(hasLasted(phase, nowMs) ? wellAgain(state) : state, [], nowMs)
    case 'Pausing':
      if (nowMs >= phase.untilMs) return resume(state, phase.resourceVersion, nowMs)
      return fetchOwed(state, [], nowMs)
  }
}

/**
 * When `Ticked` is due at the latest; `undefined` if no time matters. It may come earlier, and as often as one
 * likes.
 */
export const deadlineMs = (state: Reflector<unknown>): number | undefined => {
  const { phase, selection, relistAtMs } = state
  const owedMs = selection !== undefined && mayAsk(selection) ? selection.retryAtMs : Infinity
  const dueMs = ((): number => {
    switch (phase._tag) {
      case 'Listing':
        return Infinity
      case 'Collecting':
        return giveUpMs(phase.heardMs)
      case 'Watching':
        return Math.min(
          wellAgain(state) === state ? Infinity : phase.sinceMs + healthyWatchMs,
          relistAtMs,
          owedMs,
        )
      case 'Pausing':
        return Math.min(phase.untilMs, phase.resourceVersion === undefined ? Infinity : owedMs)
    }
  })()
  return dueMs === Infinity ? undefined : dueMs
}
