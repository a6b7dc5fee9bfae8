import * as E from 'fp-ts/lib/Either.js'
import type { Roster } from '../../core/roster.js'
import { decodeRoster, encodeRoster } from '../../core/roster/codec.js'
import type { RosterError, RosterStore } from '../../ports/roster-store.js'

/** A roster in memory: what outlives a control plane that crashes in the same process. */
export interface MemoryRosterStore extends RosterStore {
  /** What stands there, as text; `undefined` if nothing was ever saved. */
  readonly text: () => string | undefined
  /** Puts any text there, as a faulty disk would. */
  readonly overwrite: (text: string) => void
  /** How many saves have taken effect. */
  readonly saves: () => number
  /** From now on this happens to every load and save; `undefined` lets them succeed again. */
  readonly failWith: (fault: RosterFault | undefined) => void
}

export interface RosterFault {
  /** What fails; both if absent. */
  readonly only?: 'Load' | 'Save'
  readonly message: string
  /** A save takes effect all the same, as one whose answer is lost. */
  readonly takesEffect?: boolean
}

/**
 * Keeps the roster as the text that a file would hold. What a call does it has done when it returns its
 * promise, which is settled then: a test on virtual time need not wait.
 */
export const memoryRosterStore = (initial?: Roster): MemoryRosterStore => {
  let text: string | undefined
  let saves = 0
  let fault: RosterFault | undefined
  const failing = (what: 'Load' | 'Save'): RosterFault | undefined =>
    fault?.only === undefined || fault.only === what ? fault : undefined
  const put = (roster: Roster): E.Either<RosterError, void> => {
    const encoded = encodeRoster(roster)
    if (E.isLeft(encoded)) return E.left({ _tag: 'Unavailable', message: encoded.left })
    text = encoded.right
    saves += 1
    return E.right(undefined)
  }
  if (initial !== undefined) put(initial)
  return {
    load: () => () => {
      const broken = failing('Load')
      return Promise.resolve(broken === undefined ? read(text) : failed(broken))
    },
    save: (roster) => () => {
      const broken = failing('Save')
      if (broken === undefined) return Promise.resolve(put(roster))
      if (broken.takesEffect === true) put(roster)
      return Promise.resolve(failed(broken))
    },
    text: () => text,
    overwrite: (next) => {
      text = next
    },
    saves: () => saves,
    failWith: (next) => {
      fault = next
    },
  }
}

const failed = ({ message }: RosterFault): E.Either<RosterError, never> =>
  E.left({ _tag: 'Unavailable', message })

const read = (text: string | undefined): E.Either<RosterError, Roster> =>
  text === undefined
    ? E.right(new Map())
    : E.mapLeft((message: string): RosterError => ({
        _tag: 'Unreadable',
        message: `the roster in memory cannot be read: ${message}`,
      }))(decodeRoster(text))
