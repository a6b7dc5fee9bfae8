import * as PM from '../persistent-map.js'
import type { Roster, RosterEntry } from '../roster.js'
import type { NodeIdentity } from '../xds/messages.js'
import type { NodeMemory } from '../xds/node-memory.js'

/**
 * The roster as it is to be, how much of it is written down, and who waits for that.
 *
 * Guarantees: as long as `failure` is `undefined`, the roster is this process's own, and every id that was admitted
 * is written down, and as a shared one if it is; one write is out at a time; and every id that comes is admitted when
 * a write has succeeded that has it, or has failed or been slow, whichever is first.
 */
export interface Keeping {
  readonly pages: PM.PersistentMap<Page>
  /** The open streams that have said whose they are. */
  readonly streams: PM.PersistentMap<OpenStream>
  /** How many of them each id has. */
  readonly connections: PM.PersistentMap<Connections>
  /** The ids that are to be admitted once they are written down. */
  readonly waiting: PM.PersistentMap<PM.Named>
  /** Counts the changes of the roster. */
  readonly changes: number
  /** How many of these are written down. */
  readonly saved: number
  /** How many the write has that is out. */
  readonly saving: number | undefined
  /** Up to which change something was admitted, in need, that was not written down. */
  readonly admittedAhead: number
  /** The last write has failed, or does not come to an end. */
  readonly isFailing: boolean
  /** Why the roster is not safe; `undefined` if it is. */
  readonly failure: string | undefined
  /** How many writes have failed one after another. */
  readonly failures: number
  readonly retryAtMs: number | undefined
  /** When the memory of the fleet is to be read, for what is in doubt. */
  readonly readAtMs: number | undefined
  readonly lastReadMs: number | undefined
}

/** A node on the roster. */
export interface Page {
  readonly name: string
  readonly entry: RosterEntry
  /** The change that made it new, or shared: an id may be admitted once this one is written down. */
  readonly change: number
}

export interface OpenStream {
  readonly name: string
  readonly id: string
}

export interface Connections {
  readonly name: string
  readonly count: number
}

export type KeepingEvent =
  | { readonly _tag: 'NodeIdentified'; readonly stream: string; readonly node: NodeIdentity }
  /** An Envoy has refused something. */
  | { readonly _tag: 'Nacked'; readonly stream: string }
  /** An Envoy has accepted something. */
  | { readonly _tag: 'Acked'; readonly stream: string }
  | { readonly _tag: 'StreamClosed'; readonly stream: string }
  /** What the fleet remembers at the moment. */
  | { readonly _tag: 'MemoryRead'; readonly memory: ReadonlyMap<string, NodeMemory> }
  /**
   * A node counts no more. Of one that is connected it is ignored, unless its id is shared: then the others
   * that had it count no more, and it is shared no longer if one stream alone has it.
   */
  | { readonly _tag: 'NodeForgotten'; readonly id: string }
  | { readonly _tag: 'SaveSucceeded' }
  | {
      readonly _tag: 'SaveFailed'
      readonly message: string
      readonly retryAtMs: number
      /** Somebody else has the roster: no write will ever succeed again. */
      readonly isSuperseded?: boolean
    }
  /** What was written last is not there any more. */
  | { readonly _tag: 'FoundMissing' }
  /** The write has been out for too long, and is still. */
  | { readonly _tag: 'SaveIsSlow'; readonly message: string }
  /** It is as late as `nextKeepingTimer` has asked for, or later. */
  | { readonly _tag: 'TimePassed' }
  /** Somebody waits: a write that has failed is tried again now. */
  | { readonly _tag: 'SaveWanted' }

/** What is to be done, in this order. */
export type KeepingEffect =
  | { readonly _tag: 'Save'; readonly roster: Roster }
  | { readonly _tag: 'Admit'; readonly id: string }
  /** An Envoy has said who it is; its id has or had another stream, if it is shared. */
  | { readonly _tag: 'Heard'; readonly id: string; readonly isShared: boolean }
  /** A stream of this id has ended: its last one, or that of a twin. */
  | { readonly _tag: 'Lost'; readonly id: string }
  /** To be answered by `MemoryRead`. */
  | { readonly _tag: 'ReadMemory' }
  | { readonly _tag: 'Tell'; readonly fact: KeepingFact }

/** What people are told. */
export type KeepingFact =
  /** Two Envoys have one id, or one has come back before its end was noticed. */
  | { readonly _tag: 'NodeShared'; readonly id: string }
  /** Its id or cluster is absurdly long: it is not admitted. */
  | { readonly _tag: 'NodeRefused'; readonly node: NodeIdentity }
  | { readonly _tag: 'SaveFailed'; readonly message: string }
  /** The same, for good: another process has the roster. */
  | { readonly _tag: 'Superseded'; readonly message: string }
  /** What was written has been taken away by somebody, and is written again. */
  | { readonly _tag: 'FoundMissing' }
  /** All is written down again. */
  | { readonly _tag: 'SavedAgain' }

export type KeepingStep = readonly [state: Keeping, effects: ReadonlyArray<KeepingEffect>]

/**
 * Begins with a roster that was read. It is to be written once as it is: that shows whether it can be, before
 * anybody depends on it, and tells the store whose it is now. Until then it is not safe: whoever had it before might
 * still write an Envoy down that nobody here would know of.
 */
export const openKeeping = (roster: Roster): Keeping => ({
  pages: PM.fromEntries(
    [...roster.values()].map((entry) => ({ name: entry.id, entry, change: 0 })),
  ),
  streams: undefined,
  connections: undefined,
  waiting: undefined,
  changes: 1,
  saved: 0,
  saving: undefined,
  admittedAhead: 0,
  isFailing: false,
  failure: 'the list of Envoys was not written yet since the start',
  failures: 0,
  retryAtMs: undefined,
  readAtMs: undefined,
  lastReadMs: undefined,
})

/** The roster as it is to be. Costs O(nodes). */
export const rosterIn = ({ pages }: Keeping): Roster =>
  new Map([...PM.entries(pages)].map(({ name, entry }) => [name, entry]))

/** How many nodes are on the roster. */
export const sizeOf = ({ pages }: Keeping): number => PM.size(pages)

/** True if this id is on the roster. */
export const isEnlisted = ({ pages }: Keeping, id: string): boolean =>
  PM.get(pages, id) !== undefined

/** True if an open stream has this id. */
export const isConnected = ({ connections }: Keeping, id: string): boolean =>
  PM.get(connections, id) !== undefined

/** When a `TimePassed` is wanted, in milliseconds. */
export const nextKeepingTimer = (state: Keeping): number | undefined => {
  const retryAtMs =
    state.saving === undefined && state.saved < state.changes ? state.retryAtMs : undefined
  return retryAtMs === undefined || (state.readAtMs !== undefined && state.readAtMs < retryAtMs)
    ? state.readAtMs
    : retryAtMs
}
