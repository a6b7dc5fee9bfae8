import type { Snapshot } from '../../../core/snapshot.js'
import { emptyFleet, type FleetEvent, step, type StreamId } from '../../../core/xds/fleet.js'
import type { DiscoveryRequest, Variant } from '../../../core/xds/messages.js'
import type { SessionEffect } from '../../../core/xds/session.js'
import type { XdsEvent, XdsObserver } from '../../../ports/xds-observer.js'
import type { ReceivedResponse } from '../envoy/client/messages.js'
import { encodeResponse } from './encode.js'

/** The server's end of all streams. */
export interface Server {
  readonly publish: (snapshot: Snapshot) => void
  readonly open: (stream: StreamId, variant: Variant, peer: string) => void
  /** What comes on a stream that is not open is lost. */
  readonly receive: (stream: StreamId, request: DiscoveryRequest) => void
  readonly close: (stream: StreamId, reason: string) => void
}

/** Where the server's messages go. */
export interface Outlet {
  readonly send: (stream: StreamId, response: ReceivedResponse) => void
  /** The server has ended the stream, behind everything that it sent. */
  readonly end: (stream: StreamId, message: string) => void
}

/** Runs the core's machine of all streams: its one mutable cell is the machine's state. */
export const server = (outlet: Outlet, observer: XdsObserver): Server => {
  let fleet = emptyFleet
  const variants = new Map<StreamId, Variant>()

  const dispatch = inTurn((event: FleetEvent) => {
    const [next, effects] = step(fleet, event)
    fleet = next
    for (const { stream, effect } of effects) {
      const variant = variants.get(stream)
      if (variant !== undefined) perform(stream, variant, effect)
    }
  })
  const perform = (stream: StreamId, variant: Variant, effect: SessionEffect): void => {
    switch (effect._tag) {
      case 'Send': {
        const response = encodeResponse(variant, effect.response)
        outlet.send(stream, response)
        return observer(responseSent(stream, response))
      }
      case 'NodeIdentified':
        return observer({ ...effect, stream })
      case 'Acked':
        return observer({ ...effect, _tag: 'ResponseAcked', stream })
      case 'Nacked':
        return observer({ ...effect, _tag: 'ResponseNacked', stream })
      case 'Close':
        outlet.end(stream, effect.message)
        return close(stream, `${effect.code}: ${effect.message}`)
    }
  }
  const close = (stream: StreamId, reason: string): void => {
    if (!variants.delete(stream)) return
    dispatch({ _tag: 'StreamClosed', stream })
    observer({ _tag: 'StreamClosed', stream, reason })
  }
  return {
    publish: (snapshot) => dispatch({ _tag: 'SnapshotPublished', snapshot }),
    open: (stream, variant, peer) => {
      variants.set(stream, variant)
      observer({ _tag: 'StreamOpened', stream, variant, peer })
      dispatch({ _tag: 'StreamOpened', stream, variant })
    },
    receive: (stream, request) => {
      if (variants.has(stream)) dispatch({ _tag: 'RequestReceived', stream, request })
    },
    close,
  }
}

/** Handles one event after another: one that an observer or an effect brings forth waits its turn. */
const inTurn = <A>(handle: (item: A) => void): ((item: A) => void) => {
  const waiting: Array<A> = []
  let busy = false
  return (item) => {
    waiting.push(item)
    if (busy) return
    busy = true
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) handle(next)
    } finally {
      busy = false
    }
  }
}

/** `bytes` counts the contents alone: there is no envelope here. */
const responseSent = (stream: StreamId, response: ReceivedResponse): XdsEvent => ({
  _tag: 'ResponseSent',
  stream,
  typeUrl: response.typeUrl,
  nonce: response.nonce,
  version: response.version,
  resources: response.resources.length,
  removed: response.removed.length,
  bytes: response.resources.reduce((sum, { bytes }) => sum + bytes.length, 0),
})
