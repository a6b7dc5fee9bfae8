import type { FormLimits } from '../../src/core/form-choice.js'
import type { Variant } from '../../src/core/xds/messages.js'
import type { WatchFate } from '../../src/adapters/memory/api-server/index.js'

/** What somebody writes into the spec of a route: numbers that `routes.ts` makes a spec of. */
export interface SpecChoice {
  readonly host: number
  readonly path: number
  readonly backend: number
  /** Marks a form that some Envoys refuse; 0 is one that all take. */
  readonly spice: number
  /** It breaks the rules of the language. */
  readonly isInvalid: boolean
}

/** What goes wrong with requests to the API server and with what it tells. */
export interface ApiWeather {
  /** How many of the requests fail, before or after they take effect. */
  readonly failing: number
  /** How many are slow, up to `slowMs`. */
  readonly slow: number
  readonly slowMs: number
  /** How many events are lost, repeated or late. */
  readonly lossy: number
}

export type DiskWeather = 'Fine' | 'Slow' | 'Failing' | 'Lying'

/**
 * One thing that happens. Numbers are taken modulo what there is at the moment, and what cannot be done
 * then is not: so any part of a list of steps is a list of steps.
 */
export type Step =
  | {
      readonly _tag: 'Create'
      readonly name: number
      readonly spec: SpecChoice
      /** Somebody else holds it too. */
      readonly isHeld: boolean
    }
  | { readonly _tag: 'Update'; readonly name: number; readonly spec: SpecChoice }
  | { readonly _tag: 'Delete'; readonly name: number }
  /** Somebody writes to an object that is not theirs alone. */
  | {
      readonly _tag: 'Meddle'
      readonly name: number
      readonly how: 'StripFinalizer' | 'Hold' | 'LetGo' | 'Label' | 'Status'
    }
  /** Messages are delivered, wherever they are. */
  | { readonly _tag: 'Deliver'; readonly count: number; readonly choice: number }
  /** The same, to and from one Envoy. */
  | { readonly _tag: 'Attend'; readonly envoy: number; readonly count: number }
  | { readonly _tag: 'Pass'; readonly ms: number }
  /** A connection breaks: both ends know, or the Envoy alone, until the other end is told. */
  | { readonly _tag: 'Break'; readonly envoy: number; readonly isHalf: boolean }
  /** It cannot connect any more, until it is healed. */
  | { readonly _tag: 'Cut'; readonly envoy: number }
  | { readonly _tag: 'Heal'; readonly envoy: number }
  | { readonly _tag: 'Kill'; readonly envoy: number }
  /** A new process comes up in the place of the old one. */
  | { readonly _tag: 'Launch'; readonly envoy: number }
  /** It connects anew, with what it holds, and tells no version of it. */
  | { readonly _tag: 'LoseVersions'; readonly envoy: number }
  | { readonly _tag: 'Dislike'; readonly envoy: number; readonly spice: number }
  | { readonly _tag: 'BusyPort'; readonly envoy: number; readonly isBusy: boolean }
  | { readonly _tag: 'Resolver'; readonly works: boolean }
  | { readonly _tag: 'Api'; readonly weather: ApiWeather; readonly seed: number }
  | { readonly _tag: 'Watch'; readonly fate: WatchFate }
  | { readonly _tag: 'ForgetHistory' }
  | { readonly _tag: 'Disk'; readonly weather: DiskWeather }
  | { readonly _tag: 'Crash' }
  | { readonly _tag: 'Stop' }
  /** With this configuration of its listeners, and so many shards: none if absent. */
  | { readonly _tag: 'Start'; readonly context: number; readonly shards?: number }
  | { readonly _tag: 'ForgetNode'; readonly envoy: number }
  | { readonly _tag: 'BreakGlass'; readonly name: number }

/** One Envoy of a run. */
export interface EnvoySetup {
  readonly id: string
  readonly variant: Variant
  readonly seed: number
  /** A backend whose cluster it refuses; 0 for none. */
  readonly dislikesBackend: number
  readonly drainMs: number
}

export interface Setup {
  readonly seed: number
  readonly profile: string
  readonly envoys: ReadonlyArray<EnvoySetup>
  /** When tables take another form, where there may be shards. */
  readonly formLimits?: FormLimits
  /** Into how many shards in the end; none if absent. */
  readonly shards?: number
  /** What the Envoys refuse they refuse to the end. */
  readonly refusesToTheEnd: boolean
  /** Processes that were killed never come back, and somebody forgets them. */
  readonly forgetsTheDead: boolean
}

export interface Plan {
  readonly setup: Setup
  readonly steps: ReadonlyArray<Step>
}

/** A step in one line. */
export const showStep = ({ _tag, ...rest }: Step): string =>
  Object.keys(rest).length === 0 ? _tag : `${_tag} ${JSON.stringify(rest)}`
