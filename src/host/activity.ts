import { cutMessage } from '../core/cut-message.js'
import { routeType } from '../core/type-url.js'
import type { StreamId } from '../core/xds/fleet.js'
import type { Clock } from '../ports/clock.js'
import type { XdsObserver } from '../ports/xds-observer.js'
import type { LastSaid } from './operator.js'

/** What is known of one stream, or of the last one that a node had. */
export interface StreamActivity {
  /** When the stream began, or ended; RFC 3339. */
  readonly since: string
  readonly lastSaid: LastSaid | undefined
}

/** When Envoys came and went, and what they said last of route tables. */
export interface Activity {
  readonly observer: XdsObserver
  readonly ofStream: (stream: StreamId) => StreamActivity | undefined
  /** Of a node whose last stream has ended. */
  readonly ofLost: (id: string) => StreamActivity | undefined
}

/** How many lost nodes are told of: for a person who looks, after the fact. */
export const maxLost = 10_000

/** Keeps a small record for each open stream, and for each of the nodes that were lost last. */
export const watchActivity = (clock: Clock): Activity => {
  const streams = new Map<StreamId, StreamActivity & { readonly id: string | undefined }>()
  const lost = new Map<string, StreamActivity>()
  const now = (): string => new Date(clock.nowMs()).toISOString()
  const observer: XdsObserver = (event) => {
    const before = streams.get(event.stream)
    switch (event._tag) {
      case 'StreamOpened':
        streams.set(event.stream, { id: undefined, since: now(), lastSaid: undefined })
        return
      case 'NodeIdentified':
        if (before !== undefined) streams.set(event.stream, { ...before, id: event.node.id })
        return
      case 'ResponseAcked':
      case 'ResponseNacked': {
        if (before === undefined || event.typeUrl !== routeType) return
        const isAck = event._tag === 'ResponseAcked'
        const message = isAck ? '' : cutMessage(event.error.message)
        const what = isAck ? 'ACK' : 'NACK'
        const lastSaid: LastSaid = { what, at: now(), version: event.version, message }
        streams.set(event.stream, { ...before, lastSaid })
        return
      }
      case 'StreamClosed': {
        streams.delete(event.stream)
        if (before?.id === undefined) return
        lost.delete(before.id)
        lost.set(before.id, { since: now(), lastSaid: before.lastSaid })
        const [oldest] = lost.keys()
        if (lost.size > maxLost && oldest !== undefined) lost.delete(oldest)
        return
      }
      case 'ResponseSent':
      case 'RefusalFound':
        return
    }
  }
  return { observer, ofStream: (stream) => streams.get(stream), ofLost: (id) => lost.get(id) }
}
