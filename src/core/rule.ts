import type { RouteKey } from './edge-route.js'

/**
 * The form between a routing language and Envoy: what `translate` works on.
 *
 * EdgeRoute compiles to it; another language, Gateway API above all, can enter beside it. Everything is
 * explicit here: defaults are applied, values are checked, names are in their canonical form.
 */
export interface Rule {
  readonly owner: Owner
  /** The data plane that serves it. */
  readonly dataPlane: string
  /** Never empty; `*` stands for every host. */
  readonly hosts: ReadonlyArray<string>
  /** Never empty, and without repetition. */
  readonly matches: ReadonlyArray<RuleMatch>
  readonly action: Action
  readonly requestHeaders: HeaderEdits
  readonly responseHeaders: HeaderEdits
}

/** The object that a rule comes from. */
export interface Owner {
  readonly kind: string
  readonly uid: string
  readonly key: RouteKey
  /** Milliseconds since the Unix epoch; infinite where the source knows no age. The older wins. */
  readonly createdAtMs: number
}

/** One claim on requests, apart from the host. */
export interface RuleMatch {
  readonly path: RulePath
  /** Every method if absent. */
  readonly method: string | undefined
  /** Names in lower case, sorted. */
  readonly headers: ReadonlyArray<ValuePredicate>
  /** Sorted by name. */
  readonly query: ReadonlyArray<ValuePredicate>
}

export type RulePath =
  | { readonly _tag: 'Exact'; readonly value: string }
  /** Without a trailing slash, unless it is `/`. */
  | { readonly _tag: 'Prefix'; readonly value: string }
  | { readonly _tag: 'Regex'; readonly value: string }

export type ValuePredicate =
  | { readonly _tag: 'Exact'; readonly name: string; readonly value: string }
  | { readonly _tag: 'Prefix'; readonly name: string; readonly value: string }
  | { readonly _tag: 'Regex'; readonly name: string; readonly value: string }
  | { readonly _tag: 'Present'; readonly name: string }

export type Action = Forward | RedirectTo | RespondWith

export interface Forward {
  readonly _tag: 'Forward'
  /** Never empty; the sum of the weights is positive. */
  readonly backends: ReadonlyArray<RuleBackend>
  /** Zero for none. */
  readonly timeoutMs: number
  readonly retries: { readonly attempts: number; readonly on: ReadonlyArray<string> } | undefined
  readonly rewritePath: string | undefined
  readonly rewriteHost: string | undefined
}

export interface RedirectTo {
  readonly _tag: 'Redirect'
  readonly scheme: 'http' | 'https' | undefined
  readonly host: string | undefined
  readonly path: string | undefined
  readonly code: 301 | 302 | 303 | 307 | 308
}

export interface RespondWith {
  readonly _tag: 'Respond'
  readonly code: number
  readonly body: string
}

export interface RuleBackend {
  /** Where it stands in its object, as in `spec.backends[0]`. */
  readonly field: string
  readonly target: Target
  readonly weight: number
}

export interface ServiceTarget {
  readonly _tag: 'Service'
  readonly namespace: string
  readonly name: string
  readonly port: number | string
}

export type Target =
  | ServiceTarget
  | { readonly _tag: 'Ip'; readonly address: string; readonly port: number }
  | { readonly _tag: 'Dns'; readonly host: string; readonly port: number }

export interface HeaderEdits {
  readonly set: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly add: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly remove: ReadonlyArray<string>
}
