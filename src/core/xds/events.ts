import type { Uid } from '../resource.js'
import type { TypeUrl } from '../type-url.js'
import type { StreamId } from './fleet.js'
import type { ErrorDetail, NodeIdentity, Variant } from './messages.js'
import type { SessionEffect } from './session.js'

/** Something that happened between the control plane and one Envoy. */
export type XdsEvent =
  | {
      readonly _tag: 'StreamOpened'
      readonly stream: StreamId
      readonly variant: Variant
      readonly peer: string
    }
  /** The first request said who it is. `known` is false where its data plane is not. */
  | {
      readonly _tag: 'NodeIdentified'
      readonly stream: StreamId
      readonly node: NodeIdentity
      readonly dataPlane: string
      readonly known: boolean
    }
  | {
      readonly _tag: 'ResponseSent'
      readonly stream: StreamId
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
      readonly resources: number
      readonly removed: number
      readonly bytes: number
    }
  | {
      readonly _tag: 'ResponseAcked'
      readonly stream: StreamId
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
    }
  | {
      readonly _tag: 'ResponseNacked'
      readonly stream: StreamId
      readonly typeUrl: TypeUrl
      readonly nonce: string
      readonly version: string
      readonly error: ErrorDetail
    }
  /**
   * What an Envoy refuses was found: it goes on in its last accepted form, or without. `name` is a
   * resource, or the uid of an object in a route table; `owners` are the uids of the objects in it.
   */
  | {
      readonly _tag: 'RefusalFound'
      readonly stream: StreamId
      readonly typeUrl: TypeUrl
      readonly name: string
      readonly owners: ReadonlyArray<Uid>
      readonly message: string
    }
  | { readonly _tag: 'StreamClosed'; readonly stream: StreamId; readonly reason: string }

/** What only those know who carried an effect out. */
export interface Figures {
  /** The size of the response, where one was sent. */
  readonly bytes: number
}

/**
 * What an observer is told of an effect once it is carried out; of `Close` nothing, since the stream
 * says by itself that it has closed.
 */
export const eventOf = (
  stream: StreamId,
  effect: SessionEffect,
  { bytes }: Figures,
): XdsEvent | undefined => {
  switch (effect._tag) {
    case 'Send': {
      const { typeUrl, nonce, version, resources, removed } = effect.response
      const counts = { resources: resources.length, removed: removed.length, bytes }
      return { _tag: 'ResponseSent', stream, typeUrl, nonce, version, ...counts }
    }
    case 'NodeIdentified':
      return { ...effect, stream }
    case 'Acked':
      return { ...effect, _tag: 'ResponseAcked', stream }
    case 'Nacked':
      return { ...effect, _tag: 'ResponseNacked', stream }
    case 'Convicted':
      return { ...effect, _tag: 'RefusalFound', stream }
    case 'Close':
      return undefined
  }
}
