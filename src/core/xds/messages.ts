import type { Resource } from '../resource.js'
import type { TypeUrl } from '../type-url.js'

/** The two variants of the protocol: state of the world, and incremental. */
export type Variant = 'sotw' | 'delta'

/** A client of the protocol: one Envoy process. */
export interface NodeIdentity {
  readonly id: string
  readonly cluster: string
  /** The version of its build, where it says one. */
  readonly buildVersion?: BuildVersion
}

export interface BuildVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

/** A `google.rpc.Status` that a client sent as its refusal. */
export interface ErrorDetail {
  readonly code: number
  readonly message: string
}

/** A `DiscoveryRequest` as plain data. Empty strings stand for absent fields, as on the wire. */
export interface SotwRequest {
  readonly _tag: 'Sotw'
  readonly node: NodeIdentity | undefined
  /** Not yet checked: a client may send any. */
  readonly typeUrl: string
  readonly resourceNames: ReadonlyArray<string>
  readonly versionInfo: string
  readonly responseNonce: string
  readonly errorDetail: ErrorDetail | undefined
}

/** A `DeltaDiscoveryRequest` as plain data. */
export interface DeltaRequest {
  readonly _tag: 'Delta'
  readonly node: NodeIdentity | undefined
  readonly typeUrl: string
  readonly subscribe: ReadonlyArray<string>
  readonly unsubscribe: ReadonlyArray<string>
  /** Name → version that the client holds; only the first request of a type on a stream has any. */
  readonly initialResourceVersions: ReadonlyMap<string, string>
  readonly responseNonce: string
  readonly errorDetail: ErrorDetail | undefined
}

export type DiscoveryRequest = SotwRequest | DeltaRequest

/** What is to be sent: a `DiscoveryResponse` or a `DeltaDiscoveryResponse` before it is encoded. */
export interface Response {
  readonly typeUrl: TypeUrl
  readonly nonce: string
  /** `version_info`, or `system_version_info`. */
  readonly version: string
  /** In the order of their names. */
  readonly resources: ReadonlyArray<Resource>
  /** Names that are gone; always empty in a state-of-the-world response. */
  readonly removed: ReadonlyArray<string>
}
