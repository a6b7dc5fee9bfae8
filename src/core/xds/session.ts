import type { Snapshot } from '../snapshot.js'
import type { TypeUrl } from '../type-url.js'
import type { DiscoveryRequest, ErrorDetail, NodeIdentity, Response } from './messages.js'

/** What happens to one stream. */
export type SessionEvent =
  | { readonly _tag: 'RequestReceived'; readonly request: DiscoveryRequest }
  | { readonly _tag: 'SnapshotPublished'; readonly snapshot: Snapshot }

/** What is to be done, in this order. */
export type SessionEffect =
  | { readonly _tag: 'Send'; readonly response: Response }
  /** The stream has said who is at its other end. `known` is false where its data plane is not. */
  | {
      readonly _tag: 'NodeIdentified'
      readonly node: NodeIdentity
      readonly dataPlane: string
      readonly known: boolean
    }
  | {
      readonly _tag: 'Acked'
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
    }
  | {
      readonly _tag: 'Nacked'
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
      readonly error: ErrorDetail
    }
  /** The peer broke the protocol: end the stream with this status, and take no more from it. */
  | { readonly _tag: 'Close'; readonly code: CloseCode; readonly message: string }

/** gRPC status codes, by name. */
export type CloseCode = 'INVALID_ARGUMENT' | 'UNIMPLEMENTED'
