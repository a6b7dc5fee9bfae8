import type { StreamId } from '../../../core/xds/fleet.js'
import type { DiscoveryRequest } from '../../../core/xds/messages.js'
import type { ReceivedResponse } from '../envoy/client/messages.js'

/** Something on its way. Each direction of a stream keeps its order; everything else is a race. */
export type Delivery =
  | { readonly _tag: 'Request'; readonly stream: StreamId; readonly request: DiscoveryRequest }
  | { readonly _tag: 'Response'; readonly stream: StreamId; readonly response: ReceivedResponse }
  /** The server has ended the stream. */
  | { readonly _tag: 'End'; readonly stream: StreamId; readonly message: string }

/** What is on its way: a first-in-first-out queue for each direction of each stream. */
export interface Queues {
  readonly put: (delivery: Delivery) => void
  /** The head of each queue that is not empty, in the order in which the queues came to be. */
  readonly heads: () => ReadonlyArray<Delivery>
  /** Takes one of the heads out: number `choice` modulo their count. */
  readonly take: (choice: number) => Delivery | undefined
  /** Loses what is on its way on a stream. */
  readonly drop: (stream: StreamId) => void
}

export const makeQueues = (): Queues => {
  const queues = new Map<string, Array<Delivery>>()
  const heads = (): ReadonlyArray<Delivery> =>
    [...queues.values()].flatMap((queue) => queue.slice(0, 1))
  return {
    put: (delivery) => {
      const key = keyOf(delivery)
      const queue = queues.get(key)
      if (queue === undefined) queues.set(key, [delivery])
      else queue.push(delivery)
    },
    heads,
    take: (choice) => {
      const candidates = heads()
      const head = candidates[choice % candidates.length]
      if (head === undefined) return undefined
      const key = keyOf(head)
      const queue = queues.get(key)
      queue?.shift()
      if (queue?.length === 0) queues.delete(key)
      return head
    },
    drop: (stream) => {
      queues.delete(`${stream} to server`)
      queues.delete(`${stream} to client`)
    },
  }
}

const keyOf = ({ _tag, stream }: Delivery): string =>
  `${stream} to ${_tag === 'Request' ? 'server' : 'client'}`
