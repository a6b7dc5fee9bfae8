import { isDenied, isPassing } from '../reply.js'
import { draw } from './chance.js'
import { type Failure, isExpired, isUnknownRequest, needsPeople, type Trouble } from './failure.js'
import { healthyWatchMs, maxSilences, maxTroubledWatches, pauseMs } from './limits.js'
import { beginList, beginWatch } from './requests.js'
import type { Phase, Reflector, ReflectorStep } from './state.js'

/** Goes on after the request that was under way has failed. What is held stays. */
export const recover = <A>(
  state: Reflector<A>,
  failure: Failure,
  nowMs: number,
): ReflectorStep<A> => {
  switch (state.phase._tag) {
    case 'Listing': {
      const expiries = isExpired(failure) ? state.expiries + 1 : state.expiries
      return pause({ ...state, expiries }, { failure, of: 'List' }, undefined, nowMs)
    }
    case 'Collecting':
      if (isUnknownRequest(failure) || failure._tag === 'Silent')
        return beginList({ ...state, listsBy: 'Pages' }, nowMs)
      // Somebody on the way lets no stream last: it broke off in its middle, and not for the first time.
      if (state.phase.draft !== undefined && state.troubles + 1 >= maxTroubledWatches)
        return pause({ ...state, listsBy: 'Pages' }, { failure, of: 'List' }, undefined, nowMs)
      return pause(state, { failure, of: 'List' }, undefined, nowMs)
    case 'Watching':
      return recoverWatch(state, state.phase, failure, nowMs)
    case 'Pausing':
      return [state, []]
  }
}

type Watching = Phase<unknown> & { readonly _tag: 'Watching' }

const recoverWatch = <A>(
  before: Reflector<A>,
  phase: Watching,
  failure: Failure,
  nowMs: number,
): ReflectorStep<A> => {
  const isLasting = hasLasted(phase, nowMs)
  const silences = failure._tag === 'Silent' ? before.silences + 1 : before.silences
  const state = { ...(isLasting ? wellAgain(before) : before), silences }
  const resourceVersion = mayResume(state, failure) ? phase.resourceVersion : undefined
  // A silence has been waited out by itself, and need not be anybody's fault.
  if (failure._tag === 'Silent' && isLasting) return resume(state, resourceVersion, nowMs)
  return pause(state, { failure, of: 'Watch' }, resourceVersion, nowMs)
}

/**
 * The server has ended a watch. One that lasted is simply followed by the next. Of one that did not, the server
 * may not know the resource version any more and not say so, as some do: it counts as a failure.
 */
export const ended = <A>(state: Reflector<A>, nowMs: number): ReflectorStep<A> =>
  state.phase._tag === 'Watching' && hasLasted(state.phase, nowMs)
    ? beginWatch(wellAgain(state), state.phase.resourceVersion, nowMs)
    : recover(state, { _tag: 'Unreachable', message: 'the stream ended early' }, nowMs)

/** Whether a watch may go on from where it was; otherwise only a list tells what is there. */
const mayResume = ({ troubles, silences }: Reflector<unknown>, failure: Failure): boolean => {
  if (troubles + 1 >= maxTroubledWatches) return false
  switch (failure._tag) {
    case 'Unreachable':
      return true
    case 'Silent':
      return silences < maxSilences
    case 'Malformed':
      return false
    case 'Refused':
      return isDenied(failure) || isPassing(failure)
  }
}

export const hasLasted = ({ sinceMs }: Watching, nowMs: number): boolean =>
  nowMs >= sinceMs + healthyWatchMs

/** What went wrong before is forgotten. */
export const wellAgain = <A>(state: Reflector<A>): Reflector<A> =>
  state.troubles === 0 && state.trouble === undefined
    ? state
    : { ...state, troubles: 0, trouble: undefined }

/** The first failure is not waited out, unless the server asks for it, and only told if people must act. */
const pause = <A>(
  before: Reflector<A>,
  trouble: Trouble,
  resourceVersion: string | undefined,
  nowMs: number,
): ReflectorStep<A> => {
  const troubles = before.troubles + 1
  const [chance, seed] = draw(before.seed)
  const isTold = troubles > 1 || needsPeople(trouble.failure)
  const state = {
    ...before,
    troubles,
    seed,
    trouble: isTold ? trouble : before.trouble,
    attempt: before.attempt + 1,
  }
  const waitMs = pauseMs(troubles, chance, trouble.failure)
  if (waitMs === 0) return resume(state, resourceVersion, nowMs)
  const phase = { _tag: 'Pausing' as const, untilMs: nowMs + waitMs, resourceVersion }
  return [{ ...state, phase }, [{ _tag: 'Stop' }]]
}

export const resume = <A>(
  state: Reflector<A>,
  resourceVersion: string | undefined,
  nowMs: number,
): ReflectorStep<A> =>
  resourceVersion === undefined
    ? beginList(state, nowMs)
    : beginWatch(state, resourceVersion, nowMs)
