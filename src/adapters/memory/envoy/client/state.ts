import { perType, type TypeUrl } from '../../../../core/type-url.js'
import type { NodeIdentity, Variant } from '../../../../core/xds/messages.js'

export interface EnvoyOptions {
  readonly node: NodeIdentity
  readonly variant: Variant
  /**
   * How a delta client asks for all of a type: by the name `*`, or by no name at all, as Envoy does of
   * old. By no name if absent.
   */
  readonly wildcard?: 'star' | 'legacy'
  /** Says what is wrong with a resource; everything well-formed is accepted if absent. */
  readonly refuse?: Refuse
}

/** The reason for which a resource is refused, `undefined` to accept it. */
export type Refuse = (typeUrl: TypeUrl, name: string, bytes: Uint8Array) => string | undefined

/** One Envoy, as plain data. */
export interface EnvoyState {
  readonly options: EnvoyOptions
  readonly connected: boolean
  readonly watches: Watches
  /** Listeners are asked for once the first clusters are ready, and then on every stream. */
  readonly asksForListeners: boolean
  /** The last answers to responses, oldest first. */
  readonly log: ReadonlyArray<Answered>
}

export type Watches = Readonly<Record<TypeUrl, Watch>>

/** What an Envoy knows of one type. */
export interface Watch {
  /** What it runs, by name; not always what it has accepted: see `reported`. */
  readonly held: ReadonlyMap<string, HeldResource>
  /**
   * What it says that it holds, name → version. Only an accepted response moves it, although a
   * refused one may have changed what is held (xDS protocol, 2.8, A to C).
   */
  readonly reported: ReadonlyMap<string, string>
  /** The names asked for; none of a type of which everything is asked for. */
  readonly names: ReadonlySet<string>
  /**
   * The names that nobody waits for any more: one has come, or was refused, or does not exist. What is
   * settled and not held works as if it were empty.
   */
  readonly settled: ReadonlySet<string>
  /** A response of this type has come, on whichever stream. */
  readonly heard: boolean
  /** A request of this type was sent on the present stream. */
  readonly asked: boolean
  /** Of the last response on the present stream; empty if there was none. */
  readonly nonce: string
  /** Of the last accepted response, on whichever stream. */
  readonly version: string
}

export interface HeldResource {
  readonly version: string
  readonly bytes: Uint8Array
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

/** How many answers an Envoy remembers: more than any test reads, and a bound for those that never end. */
export const keptAnswers = 1_000

const unasked: Watch = {
  held: new Map(),
  reported: new Map(),
  names: new Set(),
  settled: new Set(),
  heard: false,
  asked: false,
  nonce: '',
  version: '',
}

/** An Envoy that was just started: it holds nothing, and is not connected. */
export const start = (options: EnvoyOptions): EnvoyState => ({
  options,
  connected: false,
  watches: perType(() => unasked),
  asksForListeners: false,
  log: [],
})

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
