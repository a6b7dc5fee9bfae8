import type { ErrorDetail, NodeIdentity, Variant } from '../core/xds/messages.js'
import type { TypeUrl } from '../core/type-url.js'

/** Something that happened between the control plane and one Envoy. */
export type XdsEvent =
  | {
      readonly _tag: 'StreamOpened'
      readonly stream: string
      readonly variant: Variant
      readonly peer: string
    }
  /** The first request said who it is. `known` is false where its data plane is not. */
  | {
      readonly _tag: 'NodeIdentified'
      readonly stream: string
      readonly node: NodeIdentity
      readonly dataPlane: string
      readonly known: boolean
    }
  | {
      readonly _tag: 'ResponseSent'
      readonly stream: string
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
      readonly resources: number
      readonly removed: number
      readonly bytes: number
    }
  | {
      readonly _tag: 'ResponseAcked'
      readonly stream: string
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
    }
  | {
      readonly _tag: 'ResponseNacked'
      readonly stream: string
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
      readonly error: ErrorDetail
    }
  | { readonly _tag: 'StreamClosed'; readonly stream: string; readonly reason: string }

/** Is told of each event, in order. Must not throw, and must not wait. */
export type XdsObserver = (event: XdsEvent) => void
