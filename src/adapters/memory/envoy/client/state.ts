import { clusterType, perType, type TypeUrl } from '../../../../core/type-url.js'
import { type Clusters, noClusters } from './clusters.js'
import { type Listeners, noListeners } from './listeners.js'
import { type Connections, noConnections } from './connections.js'
import { defaultFetchMs, type EnvoyOptions } from './options.js'
import { noSources, type ScopeSources } from './scopes.js'

export type { EnvoyOptions, Refusal, Refuse } from './options.js'

/** One Envoy process, as plain data. */
export interface EnvoyState {
  readonly options: EnvoyOptions
  readonly connected: boolean
  readonly nowMs: number
  readonly watches: Watches
  readonly clusters: Clusters
  readonly listeners: Listeners
  readonly connections: Connections
  readonly scopes: ScopeSources
  /**
   * Answers to responses with clusters that wait until no cluster warms, oldest first; with the
   * state of the world only the newest, with the last refusal that was not told yet.
   */
  readonly withheld: ReadonlyArray<Withheld>
  /** The last answers to responses, oldest first. */
  readonly log: ReadonlyArray<Answered>
}

export type Watches = Readonly<Record<TypeUrl, Watch>>

/** What an Envoy knows of one type. */
export interface Watch {
  /**
   * Of endpoints and route tables: what has come, by name. Clusters and listeners are kept apart,
   * because they warm and drain, and scopes, because they belong to listeners.
   */
  readonly held: ReadonlyMap<string, HeldResource>
  /**
   * What it says that it holds, name → version. Only an accepted response moves it, although a
   * refused one may have changed what is held (xDS protocol, 2.8, A to C).
   */
  readonly reported: ReadonlyMap<string, string>
  /** The names asked for; none of a type of which everything is asked for. */
  readonly names: ReadonlySet<string>
  /**
   * Of route tables, the names that no listener waits for any more although nothing has come: what
   * is settled and not held works as if it were empty.
   */
  readonly settled: ReadonlySet<string>
  /** Until when something is waited for: a route table by its name, all of a type as `*`. */
  readonly dueMs: ReadonlyMap<string, number>
  /** A response of this type has come, on whichever stream, or is waited for no more. */
  readonly heard: boolean
  /** A request of this type was sent on the present stream. */
  readonly asked: boolean
  /** A request of this type was sent, on whichever stream. */
  readonly known: boolean
  /** Of the last response on the present stream; empty if there was none. */
  readonly nonce: string
  /** Of the last accepted response, on whichever stream. */
  readonly version: string
}

export interface HeldResource {
  readonly version: string
  readonly bytes: Uint8Array
}

export interface Withheld {
  readonly nonce: string
  readonly version: string
  /** The refusal, `undefined` to accept. */
  readonly message: string | undefined
}

/** An answer that was given to a response. */
export type Answered = Acked | Nacked

export interface Acked {
  readonly _tag: 'Acked'
  readonly typeUrl: TypeUrl
  readonly nonce: string
  readonly version: string
}

export interface Nacked extends Omit<Acked, '_tag'> {
  readonly _tag: 'Nacked'
  readonly message: string
}

/**
 * How many answers an Envoy remembers: more than any test reads, and a bound for those that never
 * end.
 */
export const keptAnswers = 1_000

const unasked: Watch = {
  held: new Map(),
  reported: new Map(),
  names: new Set(),
  settled: new Set(),
  dueMs: new Map(),
  heard: false,
  asked: false,
  known: false,
  nonce: '',
  version: '',
}

/** The key in `dueMs` under which all of a type is waited for. */
export const everything = '*'

/** An Envoy that is started at this time: it holds nothing, and is not connected. */
export const start = (options: EnvoyOptions, nowMs = 0): EnvoyState => ({
  options,
  connected: false,
  nowMs,
  watches: {
    ...perType(() => unasked),
    [clusterType]: { ...unasked, dueMs: new Map([[everything, nowMs + defaultFetchMs]]) },
  },
  clusters: noClusters,
  listeners: noListeners,
  connections: noConnections,
  scopes: noSources,
  withheld: [],
  log: [],
})

/**
 * The process that takes its place, started at the same time: with the same options, and nothing
 * else.
 */
export const restarted = ({ options, nowMs }: EnvoyState): EnvoyState => start(options, nowMs)

export const withWatch = (
  state: EnvoyState,
  typeUrl: TypeUrl,
  changes: Partial<Watch>,
): EnvoyState => ({
  ...state,
  watches: { ...state.watches, [typeUrl]: { ...state.watches[typeUrl], ...changes } },
})

export const logged = (state: EnvoyState, entry: Answered): EnvoyState => ({
  ...state,
  log: [...state.log.slice(1 - keptAnswers), entry],
})
