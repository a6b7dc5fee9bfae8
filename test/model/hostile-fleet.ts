import * as client from '../../src/adapters/memory/envoy/client/index.js'
import type {
  EnvoyEvent,
  ReceivedResponse,
} from '../../src/adapters/memory/envoy/client/messages.js'
import type { EnvoyOptions } from '../../src/adapters/memory/envoy/client/options.js'
import type { EnvoyState } from '../../src/adapters/memory/envoy/client/state.js'
import { encodeResponse } from '../../src/adapters/memory/transport/encode.js'
import { type Ledger, ledgerOf } from '../../src/core/ledger.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import {
  type FleetEvent,
  type FleetState,
  nextTimer,
  openFleet,
  rememberAll,
  step,
} from '../../src/core/xds/fleet.js'
import type { DiscoveryRequest } from '../../src/core/xds/messages.js'

/** One Envoy of a run. */
export interface Cell {
  readonly index: number
  readonly id: string
  readonly state: () => EnvoyState
  readonly isConnected: () => boolean
  /** True if the present control plane has read a request of it. */
  readonly isKnown: () => boolean
}

/** A control plane and Envoys as pure machines. Every message waits until it is delivered; either side may die. */
export interface HostileFleet {
  readonly cells: ReadonlyArray<Cell>
  readonly publish: (snapshot: Snapshot) => void
  readonly connect: (cell: Cell) => void
  /** What is on its way is lost. */
  readonly disconnect: (cell: Cell) => void
  /** The process ends, and another one comes up under its name. */
  readonly restart: (cell: Cell) => void
  /** The control plane dies. The next one starts with what this one remembered, or with nothing. */
  readonly crash: (mode: 'memory' | 'nothing', publishFirst: boolean) => void
  /** Delivers the oldest message of one of the queues; returns whether there was any. */
  readonly deliver: (choice?: number) => boolean
  /** Lets time pass, from timer to timer, and calls back at each. */
  readonly pass: (ms: number, onTimer?: () => void) => void
  readonly hasMessages: () => boolean
  /** How many messages were delivered so far. */
  readonly delivered: () => number
  readonly ledger: () => Ledger
  readonly snapshot: () => Snapshot | undefined
  readonly now: () => number
}

type Message =
  | { readonly _tag: 'Request'; readonly stream: string; readonly request: DiscoveryRequest }
  | { readonly _tag: 'Response'; readonly stream: string; readonly response: ReceivedResponse }

interface Entry {
  state: EnvoyState
  stream: string | undefined
  isKnown: boolean
}

/** How many timers one stretch of time may have: more, and time stands still. */
const maxTimers = 20_000

/** `after` is called behind every message and timer, `onSend` with everything that the control plane sends. */
export const hostileFleet = (
  options: ReadonlyArray<EnvoyOptions>,
  after: () => void,
  onSend: (response: ReceivedResponse) => void,
): HostileFleet => {
  let fleet: FleetState = openFleet()
  let snapshot: Snapshot | undefined
  let nowMs = 0
  let streams = 0
  let delivered = 0
  const queues = new Map<string, Array<Message>>()
  const entries = options.map<Entry>((each) => ({
    state: client.start(each),
    stream: undefined,
    isKnown: false,
  }))
  const of = ({ index }: Cell): Entry => {
    const entry = entries[index]
    if (entry === undefined) throw new Error(`there is no Envoy ${index}`)
    return entry
  }
  const cells = options.map<Cell>(({ node }, index) => {
    const find = (): Entry => of(cell)
    const cell: Cell = {
      index,
      id: node.id,
      state: () => find().state,
      isConnected: () => find().stream !== undefined,
      isKnown: () => find().isKnown,
    }
    return cell
  })
  const byStream = (stream: string): Entry | undefined =>
    entries.find((each) => each.stream === stream)
  const put = (queue: string, message: Message): void => {
    queues.set(queue, [...(queues.get(queue) ?? []), message])
  }
  const feed = (event: FleetEvent): void => {
    const [next, effects] = step(fleet, event, nowMs)
    fleet = next
    for (const { stream, effect } of effects) {
      if (effect._tag === 'Close') throw new Error(`the server closes: ${effect.message}`)
      const entry = byStream(stream)
      if (effect._tag !== 'Send' || entry === undefined) continue
      const response = encodeResponse(entry.state.options.variant, effect.response)
      put(`${stream} down`, { _tag: 'Response', stream, response })
      onSend(response)
    }
  }
  const tell = (entry: Entry, event: EnvoyEvent): void => {
    for (const each of [{ _tag: 'TimePassed', nowMs } as const, event]) {
      const [next, effects] = client.step(entry.state, each)
      entry.state = next
      const { stream } = entry
      if (stream === undefined) continue
      for (const { request } of effects) put(`${stream} up`, { _tag: 'Request', stream, request })
    }
  }
  const hangUp = (entry: Entry): void => {
    tell(entry, { _tag: 'Disconnected' })
    queues.delete(`${entry.stream} up`)
    queues.delete(`${entry.stream} down`)
    entry.stream = undefined
  }
  const connect = (cell: Cell): void => {
    const entry = of(cell)
    if (entry.stream !== undefined) return
    streams += 1
    const stream = String(streams)
    entry.stream = stream
    feed({ _tag: 'StreamOpened', stream, variant: entry.state.options.variant })
    tell(entry, { _tag: 'Connected' })
  }
  const disconnect = (cell: Cell): void => {
    const entry = of(cell)
    const { stream } = entry
    if (stream === undefined) return
    hangUp(entry)
    feed({ _tag: 'StreamClosed', stream })
  }
  const receive = (message: Message): void => {
    const entry = byStream(message.stream)
    if (entry === undefined) return
    if (message._tag === 'Response')
      return tell(entry, { _tag: 'ResponseReceived', response: message.response })
    entry.isKnown = true
    feed({ _tag: 'RequestReceived', stream: message.stream, request: message.request })
  }
  const setTime = (time: number): void => {
    nowMs = Math.max(nowMs, time)
    feed({ _tag: 'TimePassed' })
    for (const entry of entries) tell(entry, { _tag: 'TimePassed', nowMs })
    after()
  }
  const nextTime = (): number =>
    Math.min(
      ...[nextTimer(fleet), ...entries.map(({ state }) => client.nextTimer(state))].map(
        (time) => time ?? Infinity,
      ),
    )
  return {
    cells,
    publish: (next) => {
      snapshot = next
      feed({ _tag: 'SnapshotPublished', snapshot: next })
    },
    connect,
    disconnect,
    restart: (cell) => {
      disconnect(cell)
      const entry = of(cell)
      const fresh = client.restarted(entry.state)
      entry.state = client.step(fresh, { _tag: 'TimePassed', nowMs })[0]
      connect(cell)
    },
    crash: (mode, publishFirst) => {
      const memory = mode === 'memory' ? rememberAll(fleet) : new Map<string, never>()
      for (const entry of entries) {
        if (entry.stream !== undefined) hangUp(entry)
        if (mode === 'nothing') entry.isKnown = false
      }
      fleet = openFleet(undefined, memory)
      if (publishFirst && snapshot !== undefined) feed({ _tag: 'SnapshotPublished', snapshot })
      for (const cell of cells) connect(cell)
    },
    deliver: (choice = 0) => {
      const names = [...queues.keys()]
      const name = names[choice % names.length]
      const [message, ...rest] = name === undefined ? [] : (queues.get(name) ?? [])
      if (name === undefined || message === undefined) return false
      if (rest.length === 0) queues.delete(name)
      else queues.set(name, rest)
      delivered += 1
      receive(message)
      after()
      return true
    },
    pass: (ms, onTimer) => {
      const until = nowMs + ms
      for (let timers = 0; nextTime() < until; timers++) {
        if (timers > maxTimers) throw new Error('time stands still')
        setTime(nextTime())
        onTimer?.()
      }
      setTime(until)
    },
    hasMessages: () => queues.size > 0,
    delivered: () => delivered,
    ledger: () => ledgerOf(fleet),
    snapshot: () => snapshot,
    now: () => nowMs,
  }
}
