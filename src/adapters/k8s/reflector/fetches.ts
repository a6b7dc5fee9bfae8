import { draw } from './chance.js'
import type { Failure } from './failure.js'
import { type Changed, dropGroup, each, type Holdings, put } from './holdings.js'
import { maxFetches, maxFetchFailures, pauseMs } from './limits.js'
import { beginList } from './requests.js'
import {
  answered,
  ask,
  isAsked,
  isOvertaken,
  mayAsk,
  select,
  type Selecting,
  type Selection,
  unanswered,
  type Wish,
} from './selection.js'
import type { Reflector, ReflectorStep, Sighting } from './state.js'

/** Keeps some groups more, and others no longer: these leave as if they were deleted. */
export const changeSelection = <A>(
  state: Reflector<A>,
  selecting: Selecting,
  nowMs: number,
): ReflectorStep<A> => {
  if (state.selection === undefined) return [state, []]
  const selection = select(state.selection, selecting)
  const [held, changes] = each(state.held, selecting.remove, dropGroup)
  return fetchOwed({ ...state, held, selection }, changes, nowMs)
}

/**
 * Fetches what is owed, unless a list of everything is under way or next: that brings it, and what is owed then is
 * asked for when it is there. Many groups at once are listed with all the others, which is cheaper.
 */
export const fetchOwed = <A>(
  state: Reflector<A>,
  changes: Changed<A>[1],
  nowMs: number,
): ReflectorStep<A> => {
  const { selection, phase } = state
  const told = tell<A>(changes)
  const mayFetch =
    selection !== undefined &&
    mayAsk(selection) &&
    (phase._tag === 'Watching' ||
      (phase._tag === 'Pausing' && phase.resourceVersion !== undefined)) &&
    nowMs >= selection.retryAtMs
  if (!mayFetch) return [state, told]
  if (isTooMuch(selection)) {
    if (phase._tag === 'Pausing')
      return [{ ...state, phase: { ...phase, resourceVersion: undefined } }, told]
    const [next, effects] = beginList(state, nowMs)
    return [next, [...told, ...effects]]
  }
  const [next, wishes] = ask(selection)
  const fetches = wishes.map((wish) => ({ _tag: 'Fetch' as const, wish }))
  return [{ ...state, selection: next }, [...told, ...fetches]]
}

const isTooMuch = ({ owed, asked, failures }: Selection): boolean =>
  owed.size + asked.size > maxFetches || failures >= maxFetchFailures

/** Takes in the objects of a group; then the next one has its turn. */
export const fetched = <A>(
  state: Reflector<A>,
  wish: Wish,
  items: ReadonlyArray<Sighting<A>>,
  nowMs: number,
): ReflectorStep<A> => {
  const { selection } = state
  if (selection === undefined || !isAsked(selection, wish)) return [state, []]
  const [held, changes] = each(state.held, items, (before, item) =>
    isOvertaken(selection, wish, item.name) ? [before, []] : take(before, item),
  )
  return fetchOwed({ ...state, held, selection: answered(selection, wish) }, changes, nowMs)
}

const take = <A>(held: Holdings<A>, { value, ...rest }: Sighting<A>): Changed<A> =>
  value === undefined ? [held, []] : put(held, { ...rest, value })

/** Fetches again later; after some failures by a list of everything, which has its own way with failures. */
export const fetchFailed = <A>(
  state: Reflector<A>,
  wish: Wish,
  failure: Failure,
  nowMs: number,
): ReflectorStep<A> => {
  const { selection } = state
  if (selection === undefined || !isAsked(selection, wish)) return [state, []]
  const [chance, seed] = draw(state.seed)
  const waitMs = pauseMs(selection.failures + 1, chance, failure)
  const next = unanswered(selection, wish, nowMs + waitMs)
  return fetchOwed({ ...state, seed, selection: next }, [], nowMs)
}

export const tell = <A>(changes: Changed<A>[1]): ReflectorStep<A>[1] =>
  changes.length === 0 ? [] : [{ _tag: 'Tell', changes }]
