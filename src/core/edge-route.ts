/** The API group and version of EdgeRoute. */
export const apiVersion = 'net.10xdev.io/v1'
export const kind = 'EdgeRoute'

/** The data plane of a route that names none. */
export const defaultDataPlane = 'edge-envoy'

/** The namespace of an object that names none. */
export const defaultNamespace = 'default'

/** The name of a route in its source: unique in a cluster or a directory. */
export interface RouteKey {
  readonly namespace: string
  readonly name: string
}

/** `namespace/name`. */
export const showKey = (key: RouteKey): string => `${key.namespace}/${key.name}`

/**
 * An object of kind EdgeRoute: which requests it claims, and where they go.
 *
 * `spec` is as its author wrote it: defaults are applied where it is translated. Made by
 * `decodeEdgeRoute`; one that was put together by hand is checked again when it is translated.
 */
export interface EdgeRoute {
  readonly metadata: Metadata
  readonly spec: EdgeRouteSpec
}

export interface Metadata extends RouteKey {
  /** The identity of the object: a new object under an old name has another one. */
  readonly uid: string
  /** Counts the changes of the spec. */
  readonly generation: number
  /** RFC 3339, in seconds, as Kubernetes writes it. Absent where a source knows no age. */
  readonly creationTimestamp?: string
  /** When the deletion was asked for; an object that has one is terminating, and is not served. */
  readonly deletionTimestamp?: string
  readonly finalizers: ReadonlyArray<string>
}

export interface EdgeRouteSpec {
  /** The fleet that serves the route; `edge-envoy` if absent. */
  readonly dataPlane?: string
  /** Exact, or `*.suffix`; every host if absent. */
  readonly hostnames?: ReadonlyArray<string>
  /** Any of them; every path if absent. */
  readonly matches?: ReadonlyArray<Match>
  /** Exactly one of `backends`, `redirect` and `respond` is there. */
  readonly backends?: ReadonlyArray<Backend>
  readonly redirect?: Redirect
  readonly respond?: Respond
  readonly timeouts?: Timeouts
  readonly retries?: Retries
  readonly rewrite?: Rewrite
  readonly headers?: Headers
}

/** All of what it names must hold. */
export interface Match {
  /** Prefix `/` if absent. */
  readonly path?: PathMatch
  /** Every method if absent. */
  readonly methods?: ReadonlyArray<string>
  readonly headers?: ReadonlyArray<ValueMatch>
  readonly query?: ReadonlyArray<ValueMatch>
}

/** Exactly one field is there. Prefixes match on path elements: `/a` matches `/a/b`, not `/ab`. */
export interface PathMatch {
  readonly prefix?: string
  readonly exact?: string
  /** RE2 syntax; must match the whole path, without the query. */
  readonly regex?: string
}

/** A header or a query parameter. Exactly one of the fields beside `name` is there. */
export interface ValueMatch {
  readonly name: string
  readonly exact?: string
  readonly prefix?: string
  /** RE2 syntax; must match the whole value. */
  readonly regex?: string
  readonly present?: true
}

/** Exactly one of `service` and `address` is there. */
export interface Backend {
  readonly service?: ServiceRef
  readonly address?: AddressRef
  /** Its share of the sum of all weights; 1 if absent. */
  readonly weight?: number
}

/** A Service in the namespace of the route. */
export interface ServiceRef {
  readonly name: string
  /** The Service's port, by number or by name. */
  readonly port: number | string
}

export interface AddressRef {
  /** An IP address or a DNS name. */
  readonly host: string
  readonly port: number
}

export interface Redirect {
  readonly scheme?: 'http' | 'https'
  readonly host?: string
  readonly path?: string
  /** 301 if absent. */
  readonly code?: 301 | 302 | 303 | 307 | 308
}

export interface Respond {
  readonly code: number
  readonly body?: string
}

export interface Timeouts {
  /** A Go duration, from the end of the request to the end of the answer; 15s if absent, 0s for none. */
  readonly request?: string
}

export interface Retries {
  /** How many more times a request may be sent. */
  readonly attempts: number
  /** Envoy's names of retry conditions. */
  readonly on?: ReadonlyArray<string>
}

export interface Rewrite {
  /** Stands in place of the matched prefix, or of the whole path where the match is exact. */
  readonly prefix?: string
  readonly host?: string
}

export interface Headers {
  readonly request?: HeaderChanges
  readonly response?: HeaderChanges
}

export interface HeaderChanges {
  /** Replaces a header, or adds it. */
  readonly set?: ReadonlyArray<HeaderValue>
  /** Adds one more value. */
  readonly add?: ReadonlyArray<HeaderValue>
  readonly remove?: ReadonlyArray<string>
}

export interface HeaderValue {
  readonly name: string
  readonly value: string
}
