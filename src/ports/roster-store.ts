import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Roster } from '../core/roster.js'

/** Where the roster outlives the process. One process at a time writes to it. */
export interface RosterStore {
  /** What was saved last; an empty one where nothing ever was. */
  readonly load: () => TaskEither<RosterError, Roster>
  /**
   * Puts this in the place of what was there. Once it has succeeded it outlives a crash of the process and
   * of the machine; a failure leaves what was there, or this, and nothing between.
   */
  readonly save: (roster: Roster) => TaskEither<RosterError, void>
  /**
   * Whether what was saved last is there still, as far as that can be told now; only a save can put it there again.
   * Absent where nobody else could have taken it away.
   */
  readonly isThere?: () => TaskEither<RosterError, boolean>
}

export interface RosterError {
  readonly _tag:
    | 'Unavailable'
    | 'Unreadable'
    /** Another process has written it since: this one does not know all Envoys any more, and never will. */
    | 'Superseded'
  /** For people: where, what, and what to do. */
  readonly message: string
  /** How long the store asks to be left alone, in milliseconds; absent if it does not. */
  readonly retryAfterMs?: number
}
