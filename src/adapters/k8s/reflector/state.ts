import type { Seed } from './chance.js'
import type { Failure, Trouble } from './failure.js'
import type { Change, Holdings, Objects } from './holdings.js'
import type { Selecting, Selection, Wish } from './selection.js'

/** What is known of the objects of one kind, in one namespace or all, by listing and watching. */
export interface Reflector<A> {
  readonly options: ReflectorOptions
  /** The last state that was known as a whole, with what the watch has told since. */
  readonly held: Holdings<A>
  /** `undefined` where everything is kept. */
  readonly selection: Selection | undefined
  /** Whether there was a complete list. */
  readonly isSynced: boolean
  readonly phase: Phase<A>
  /** Identifies the request that is under way: news of an earlier one comes too late. */
  readonly attempt: number
  readonly seed: Seed
  /** How often in a row something went wrong, with no watch in between that lasted. */
  readonly troubles: number
  /** What people should know of; `undefined` while all is well, or may be so at once. */
  readonly trouble: Trouble | undefined
  readonly listsBy: 'WatchList' | 'Pages'
  /** How many lists in a row expired between two pages. */
  readonly expiries: number
  /** How many watches in a row ended without a word. */
  readonly silences: number
  /** When everything is listed again. */
  readonly relistAtMs: number
}

export interface ReflectorOptions {
  /** Objects to a page. */
  readonly pageSize: number
  /** How often everything is listed again, in milliseconds; never if 0. */
  readonly relistMs: number
}

export type Phase<A> =
  /** Lists page by page. */
  | {
      readonly _tag: 'Listing'
      readonly draft: Objects<A>
      /** That of the first page. */
      readonly resourceVersion: string | undefined
    }
  /** Reads a watch that begins with everything there is. */
  | { readonly _tag: 'Collecting'; readonly draft: Objects<A>; readonly heardMs: number }
  | {
      readonly _tag: 'Watching'
      /** Where the next watch begins. */
      readonly resourceVersion: string
      readonly sinceMs: number
    }
  | {
      readonly _tag: 'Pausing'
      readonly untilMs: number
      /** Where to watch then; `undefined` if a list is needed. */
      readonly resourceVersion: string | undefined
    }

/** An object as the server told of it. */
export interface Sighting<A> {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly group: string | undefined
  /** `undefined` where nothing of it is kept. */
  readonly value: A | undefined
}

export type ReflectorEvent<A> =
  | {
      readonly _tag: 'Listed'
      readonly attempt: number
      readonly items: ReadonlyArray<Sighting<A>>
      readonly resourceVersion: string
      /** Where the next page begins; `undefined` on the last one. */
      readonly next: string | undefined
    }
  /** An object was added or modified. */
  | { readonly _tag: 'Applied'; readonly attempt: number; readonly object: Sighting<A> }
  /** An object is gone; its resource version is that of the deletion. */
  | { readonly _tag: 'Deleted'; readonly attempt: number; readonly object: Sighting<A> }
  | {
      readonly _tag: 'Bookmarked'
      readonly attempt: number
      readonly resourceVersion: string
      /** Whether it says that everything there is was told. */
      readonly endsInitialEvents: boolean
    }
  /** The server has ended the watch, and says nothing against it. */
  | { readonly _tag: 'Ended'; readonly attempt: number }
  | { readonly _tag: 'Failed'; readonly attempt: number; readonly failure: Failure }
  /** Time has passed. */
  | { readonly _tag: 'Ticked' }
  | ({ readonly _tag: 'Selected' } & Selecting)
  | {
      readonly _tag: 'Fetched'
      readonly wish: Wish
      readonly items: ReadonlyArray<Sighting<A>>
    }
  | { readonly _tag: 'FetchFailed'; readonly wish: Wish; readonly failure: Failure }

/** The parameters of a request. */
export type Query = Readonly<Record<string, string>>

export type ReflectorEffect<A> =
  /** A page; takes the place of what is under way. */
  | { readonly _tag: 'List'; readonly attempt: number; readonly query: Query }
  /** Takes the place of what is under way. */
  | {
      readonly _tag: 'Watch'
      readonly attempt: number
      readonly query: Query
      readonly silenceMs: number
    }
  /** Ends what is under way. */
  | { readonly _tag: 'Stop' }
  /** A list of the objects of one group, beside what is under way. */
  | { readonly _tag: 'Fetch'; readonly wish: Wish }
  /** Never empty. */
  | { readonly _tag: 'Tell'; readonly changes: ReadonlyArray<Change<A>> }

export type ReflectorStep<A> = readonly [
  state: Reflector<A>,
  effects: ReadonlyArray<ReflectorEffect<A>>,
]
