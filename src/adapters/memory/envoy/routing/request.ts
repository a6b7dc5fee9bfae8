import type { Header, HeaderChange } from './headers.js'

/** A request as it comes in, over HTTP/1.1 and without TLS. */
export interface Request {
  /** Where it comes in: the name of a listener, or a port. */
  readonly listener: string | number
  /**
   * The connection on which it comes, one of `openConnection`; then `listener` says nothing. A new one
   * if absent.
   */
  readonly connection?: number
  /** Its `host` header, with the port if it has one. */
  readonly host: string
  /** With the query. */
  readonly path: string
  /** `GET` if absent. */
  readonly method?: string
  readonly headers?: ReadonlyArray<Header>
  /** Chooses among weighted clusters, in [0, 1); 0 if absent. */
  readonly pick?: number
}

/** What becomes of a request. */
export type Answer =
  | Forwarded
  | Redirected
  | Responded
  /** 404: no virtual host of its host, or no route of its virtual host. */
  | { readonly _tag: 'NotFound' }
  /** 503. `NC`: the cluster is absent, or not ready yet. `UH`: it has no endpoint. */
  | { readonly _tag: 'ServiceUnavailable'; readonly flag: 'NC' | 'UH'; readonly cluster: string }
  /**
   * No listener is there, or its route table has not come yet, so that its port is closed; or the
   * connection is.
   */
  | { readonly _tag: 'ConnectionRefused' }

/** Sent on, in the form that the backend sees, save for headers that Envoy adds of itself. */
export interface Forwarded {
  readonly _tag: 'Forwarded'
  readonly cluster: string
  /** All that the cluster has; which one is chosen is not said. */
  readonly endpoints: ReadonlyArray<EndpointAddress>
  /** With the query. */
  readonly path: string
  readonly host: string
  readonly headers: ReadonlyArray<Header>
  /** To be applied to the backend's answer with `changeHeaders`. */
  readonly responseChanges: ReadonlyArray<HeaderChange>
}

export interface EndpointAddress {
  /** An IP address, or a name where the cluster resolves names. */
  readonly address: string
  readonly port: number
}

export interface Redirected {
  readonly _tag: 'Redirected'
  readonly code: number
  readonly location: string
  /** Those that the configuration adds. */
  readonly headers: ReadonlyArray<Header>
}

/** Answered by Envoy itself: a fixed response, or 400 to a request that it does not take. */
export interface Responded {
  readonly _tag: 'Responded'
  readonly code: number
  readonly body: string
  /** Those that the configuration adds. */
  readonly headers: ReadonlyArray<Header>
}

/** What a route does with a request that it matched; a cluster is only named. */
export type Decision = Forward | Redirected | Responded

export interface Forward extends Omit<Forwarded, '_tag' | 'endpoints'> {
  readonly _tag: 'Forward'
}
