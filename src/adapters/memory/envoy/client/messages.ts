import type { TypeUrl } from '../../../../core/type-url.js'
import type { DiscoveryRequest } from '../../../../core/xds/messages.js'

/** A response as plain data, as it reaches a client. */
export interface ReceivedResponse {
  readonly typeUrl: TypeUrl
  readonly nonce: string
  /** `version_info`, or `system_version_info`. */
  readonly version: string
  readonly resources: ReadonlyArray<ReceivedResource>
  /** Always empty in a state-of-the-world response. */
  readonly removed: ReadonlyArray<string>
}

export interface ReceivedResource {
  readonly name: string
  /** That of the response where a resource has none of its own, in the state of the world. */
  readonly version: string
  /** Of its `Any`; a well-behaved server repeats that of the response. */
  readonly typeUrl: string
  readonly bytes: Uint8Array
}

/** What happens to an Envoy. */
export type EnvoyEvent =
  /** A new stream is open. */
  | { readonly _tag: 'Connected' }
  | { readonly _tag: 'Disconnected' }
  | { readonly _tag: 'ResponseReceived'; readonly response: ReceivedResponse }
  /**
   * It is this late now. Earlier than it was is no time at all; see `nextTimer` for when it
   * matters.
   */
  | { readonly _tag: 'TimePassed'; readonly nowMs: number }

/** What an Envoy wants done, in this order. */
export interface EnvoyEffect {
  readonly _tag: 'SendRequest'
  readonly request: DiscoveryRequest
}
