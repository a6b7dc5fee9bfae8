import { believedForMs, heldForMs, maxObservedMs } from './limits.js'
import { heldBy, type LeaseClaim, type LeaseRecord, type SeenLease } from './record.js'

/** One who wants a lease. */
export interface Contender {
  readonly identity: string
  /** What the server had when it was last asked; `undefined` if that is not known, or there was none. */
  readonly seen: SeenLease | undefined
  /** Since when, by the clock of this contender, it is known to say what it says. */
  readonly unchangedSinceMs: number
  /** Who had it last, where somebody has deleted it; `undefined` while it is there, or where nobody is known. */
  readonly bereft: Bereft | undefined
  /** Until when the lease is this contender's, whatever others do; by its clock. */
  readonly heldUntilMs: number
  /** What the lease was when this contender last asked for it to be its own; `undefined` before that. */
  readonly found: LeaseFound | undefined
  /** What was told last. */
  readonly told: Told
}

/** One whose lease was deleted: it may be at work, and make it again. */
export interface Bereft {
  readonly holder: string
  /** For how long, by the clock of who has seen it. */
  readonly untilMs: number
}

/** What a lease was before it was taken. */
export type LeaseFound =
  /**
   * Its holder had ended, and has said so. With `knewAll` it has said, too, a moment ago, that it knew all Envoys that
   * may serve something, and had written them down. What was said long ago does not count: others may have served
   * since that could not reach the lease.
   */
  | { readonly how: 'GivenBack'; readonly knewAll: boolean }
  /**
   * Never is it known that all Envoys were known, whatever the lease says: one that was not asked to end may have
   * taken in another after it had said so.
   *
   * - `Fresh`: there was none. Somebody may have deleted one whose holder is at work.
   * - `Own`: it had the name of this contender, and was of an earlier life of it, which has ended.
   * - `Expired`: its holder had not renewed it for as long as it lasts, and may be at work for all that is known.
   */
  | { readonly how: 'Fresh' | 'Own' | 'Expired'; readonly knewAll: false }

export type Told =
  | { readonly _tag: 'Nothing' }
  | { readonly _tag: 'Held' }
  | { readonly _tag: 'Waiting'; readonly holder: string }
  | { readonly _tag: 'Failing'; readonly wasHeld: boolean; readonly isDenied: boolean }

export type LeaseEvent =
  /** It is time to renew it, or to look whether it can be had. */
  | { readonly _tag: 'Due'; readonly nowMs: number }
  /** What the server has; `undefined` if there is none. */
  | { readonly _tag: 'Read'; readonly seen: SeenLease | undefined; readonly nowMs: number }
  /** What was sent at `sentAtMs` was written. */
  | {
      readonly _tag: 'Written'
      readonly seen: SeenLease
      readonly sentAtMs: number
      readonly nowMs: number
    }
  /** It was not: the server has something else than was thought. */
  | { readonly _tag: 'Conflicted' }
  /** No answer, or another one. It may have been written all the same, unless it `isDenied`. */
  | { readonly _tag: 'Failed'; readonly message: string; readonly isDenied: boolean }

/** What is to be done next. */
export type LeaseCommand =
  | { readonly _tag: 'Read' }
  /** In the place of the state `version`, or where there is none if that is `undefined`. */
  | { readonly _tag: 'Write'; readonly record: LeaseClaim; readonly version: string | undefined }
  /** Nothing, until it is due again. */
  | { readonly _tag: 'Rest' }

/** What people should know. Each is told when it begins. */
export type LeaseFact =
  /** It is ours, for the first time or again after it was another's. */
  | ({ readonly _tag: 'Acquired' } & LeaseFound)
  /** It is another's, and was not ours. */
  | { readonly _tag: 'Waiting'; readonly holder: string }
  /** It was ours, and is another's; the holder is empty if that one has given it back already. */
  | { readonly _tag: 'Lost'; readonly holder: string }
  /**
   * The API server does not answer, or refuses; whose it is is not known. With `isDenied` it answers that we may not
   * know, or have it, while others may. Told anew when that changes.
   */
  | { readonly _tag: 'Failing'; readonly message: string; readonly isDenied: boolean }
  /**
   * It is ours as it was before it failed, or was not renewed in time; between that renewal and the one before
   * `afterMs` have passed.
   */
  | { readonly _tag: 'Recovered'; readonly afterMs: number }

export type LeaseStep = readonly [Contender, LeaseCommand, LeaseFact | undefined]

export const newContender = (identity: string): Contender => ({
  identity,
  seen: undefined,
  unchangedSinceMs: 0,
  bereft: undefined,
  heldUntilMs: -Infinity,
  found: undefined,
  told: { _tag: 'Nothing' },
})

/**
 * Decides what a contender does next.
 *
 * | event      | and                                                  | then                   |
 * | ---------- | ---------------------------------------------------- | ---------------------- |
 * | Due        | it was ours when it was last seen                    | renew it as it was     |
 * | Due        | otherwise                                            | read it                |
 * | Read       | it was ours, and is not any more                     | rest: it is lost       |
 * | Read       | there is none, and another had it a moment ago       | rest                   |
 * | Read       | there is none; nobody has it; it is ours             | write it               |
 * | Read       | it has said the same for as long as it says it lasts | write it: it has ended |
 * | Read       | otherwise                                            | rest                   |
 * | Written    |                                                      | rest                   |
 * | Conflicted |                                                      | read it                |
 * | Failed     |                                                      | rest; read it next     |
 *
 * One that was ours and that nobody has now was another's in between, who has given it back. The holder of one that was
 * deleted cannot know that, and makes it again at its next renewal: others leave it the time for that.
 *
 * Whether it has ended is told by the contender's own clock alone, from when it saw the last change: times in the lease
 * are for people. All writes are guarded by what was seen, so that only one of several can have it.
 */
export const step = (contender: Contender, event: LeaseEvent): LeaseStep => {
  switch (event._tag) {
    case 'Due':
      return contender.seen?.record.holder === contender.identity
        ? [contender, writeTo(contender, contender.seen, event.nowMs), undefined]
        : [contender, { _tag: 'Read' }, undefined]
    case 'Read':
      return onRead(contender, event.seen, event.nowMs)
    case 'Written':
      return onWritten(contender, event)
    case 'Conflicted':
      return [forgetOwn(contender), { _tag: 'Read' }, undefined]
    case 'Failed':
      return onFailed(contender, event)
  }
}

/** Whether the lease is this contender's, and nobody else's. */
export const isHeldAt = ({ heldUntilMs }: Contender, nowMs: number): boolean => nowMs < heldUntilMs

const onRead = (before: Contender, seen: SeenLease | undefined, nowMs: number): LeaseStep => {
  if (seen === undefined) return onGone(before, nowMs)
  const isUnchanged = sayingOf(before.seen) === sayingOf(seen)
  const unchangedSinceMs = isUnchanged ? before.unchangedSinceMs : nowMs
  const contender = { ...before, seen, unchangedSinceMs, bereft: undefined }
  const { holder, durationMs, knowsAll } = seen.record
  const isMine = holder === contender.identity
  if (wasHeldBy(before) && !isMine) return onOthers(contender, holder)
  if (holder === '') {
    const knewAll = knowsAll && isRecent(seen.record, nowMs)
    return claim(contender, { how: 'GivenBack', knewAll }, nowMs)
  }
  if (isMine) return claim(contender, { how: 'Own', knewAll: false }, nowMs)
  const hasEnded = nowMs - unchangedSinceMs >= durationMs
  return hasEnded
    ? claim(contender, { how: 'Expired', knewAll: false }, nowMs)
    : onOthers(contender, holder)
}

/**
 * There is none. Whoever was seen to have it may have renewed it up to now, and counts on it from then on for less than
 * it lasts: that is waited for.
 */
const onGone = (before: Contender, nowMs: number): LeaseStep => {
  const bereft = before.bereft ?? bereftOf(before, nowMs)
  const contender = { ...before, seen: undefined, bereft }
  return bereft !== undefined && nowMs < bereft.untilMs
    ? onOthers(contender, bereft.holder)
    : claim(contender, { how: 'Fresh', knewAll: false }, nowMs)
}

const bereftOf = ({ seen, identity }: Contender, nowMs: number): Bereft | undefined => {
  if (seen === undefined) return undefined
  const { holder, durationMs } = seen.record
  const isOthers = holder !== '' && holder !== identity
  return isOthers ? { holder, untilMs: nowMs + Math.min(durationMs, maxObservedMs) } : undefined
}

/**
 * Whether nobody can have served for long without the lease since it was given back. The time is of another's clock:
 * one that is far off, or makes no sense, is not recent, and costs a longer start.
 */
const isRecent = ({ renewedAt }: LeaseRecord, nowMs: number): boolean =>
  Math.abs(nowMs - Date.parse(renewedAt)) < believedForMs

const claim = (contender: Contender, found: LeaseFound, nowMs: number): LeaseStep => [
  { ...contender, found },
  writeTo(contender, contender.seen, nowMs),
  undefined,
]

/** Somebody else has it: that of ours is over. */
const onOthers = (contender: Contender, holder: string): LeaseStep => {
  const { told } = contender
  const waiting: Contender = {
    ...contender,
    heldUntilMs: -Infinity,
    told: { _tag: 'Waiting', holder },
  }
  const rest = { _tag: 'Rest' } as const
  if (told._tag === 'Waiting' && told.holder === holder) return [waiting, rest, undefined]
  return [waiting, rest, { _tag: wasHeldBy(contender) ? 'Lost' : 'Waiting', holder }]
}

/** Whether it was ours when that was last known, and nobody has heard otherwise since. */
const wasHeldBy = ({ told }: Contender): boolean =>
  told._tag === 'Held' || (told._tag === 'Failing' && told.wasHeld)

type Written = Extract<LeaseEvent, { readonly _tag: 'Written' }>

/** Nothing is known of what was never found. */
const unfound: LeaseFound = { how: 'Expired', knewAll: false }

const onWritten = (contender: Contender, { seen, sentAtMs, nowMs }: Written): LeaseStep => {
  const { told, found = unfound } = contender
  const held: Contender = {
    ...contender,
    seen,
    unchangedSinceMs: sentAtMs,
    bereft: undefined,
    heldUntilMs: sentAtMs + heldForMs,
    told: { _tag: 'Held' },
  }
  const rest = { _tag: 'Rest' } as const
  if (told._tag === 'Held' && isHeldAt(contender, nowMs)) return [held, rest, undefined]
  if (!wasHeldBy(contender)) return [held, rest, { _tag: 'Acquired', ...found }]
  const afterMs = held.heldUntilMs - contender.heldUntilMs
  return [held, rest, { _tag: 'Recovered', afterMs }]
}

type Failed = Extract<LeaseEvent, { readonly _tag: 'Failed' }>

const onFailed = (contender: Contender, { message, isDenied }: Failed): LeaseStep => {
  const { told } = contender
  const wasHeld = wasHeldBy(contender)
  const failing: Contender = {
    ...forgetOwn(contender),
    told: { _tag: 'Failing', wasHeld, isDenied },
  }
  const isTold = told._tag === 'Failing' && told.isDenied === isDenied
  return [failing, { _tag: 'Rest' }, isTold ? undefined : { _tag: 'Failing', message, isDenied }]
}

/** What was written is not known any more. What another has, and since when it says the same, still is. */
const forgetOwn = (contender: Contender): Contender =>
  contender.seen?.record.holder === contender.identity
    ? { ...contender, seen: undefined }
    : contender

const writeTo = (
  { identity }: Contender,
  seen: SeenLease | undefined,
  nowMs: number,
): LeaseCommand => ({
  _tag: 'Write',
  record: heldBy(identity, seen?.record, nowMs),
  version: seen?.version,
})

/** What changes whenever it is renewed or goes to another; nothing else does. */
const sayingOf = (seen: SeenLease | undefined): string | undefined =>
  seen === undefined ? undefined : JSON.stringify([seen.record.holder, seen.record.renewedAt])
