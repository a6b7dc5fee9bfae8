import * as E from 'fp-ts/lib/Either.js'
import type { Snapshot } from '../../core/snapshot.js'
import type { FleetEvent, FleetState, FleetStep, StreamId } from '../../core/xds/fleet.js'
import type { Variant } from '../../core/xds/messages.js'
import type { SessionEffect } from '../../core/xds/session.js'
import type { Logger } from '../../ports/logger.js'
import type { XdsEvent, XdsObserver } from '../../ports/xds-observer.js'
import { decodeRequest } from './request-decoder.js'
import { type EncodeResponse, responseEncoder } from './response-encoder.js'
import type { EndStatus, StreamListener, XdsStream } from './stream.js'

/** The pure machine of all streams: in the server, `emptyFleet` and `step` of the core. */
export interface FleetMachine {
  readonly initial: FleetState
  readonly step: (state: FleetState, event: FleetEvent) => FleetStep
}

/** The machine with its streams, and with the one mutable cell of the adapter: its state. */
export interface FleetRunner {
  /** Throws only if the machine does, and then nothing is published. */
  readonly publish: (snapshot: Snapshot) => void
  /** Takes a new stream in, and returns what is to be told of it. */
  readonly accept: (variant: Variant, stream: XdsStream) => StreamListener
  /** Ends every stream with OK. */
  readonly endAll: (reason: string) => void
  readonly streams: () => number
}

interface OpenStream extends XdsStream {
  readonly variant: Variant
}

/**
 * Runs the machine: events in, one after another, and its effects out to the streams, in their
 * order.
 *
 * Assumes that `observer` and `logger` do not throw. What fails for one stream ends that stream
 * with INTERNAL and harms no other: the state is immutable, so a step that threw has changed
 * nothing.
 */
export const fleetRunner = (
  machine: FleetMachine,
  observer: XdsObserver,
  logger: Logger,
): FleetRunner => {
  let state = machine.initial
  const streams = new Map<StreamId, OpenStream>()
  const encode = responseEncoder()

  const contain = (id: StreamId, run: () => void): void => {
    try {
      run()
    } catch (error) {
      logger.log('error', 'a stream failed', { stream: id, error: String(error) })
      const stream = streams.get(id)
      if (stream !== undefined) endWith(stream, internalError)
    }
  }
  const handle = (event: FleetEvent): void => {
    const [next, effects] = machine.step(state, event)
    state = next
    for (const { stream: id, effect } of effects) {
      const stream = streams.get(id)
      if (stream !== undefined) contain(id, () => perform(id, stream, effect, encode, observer))
    }
  }
  const dispatch = oneAtATime((event: FleetEvent) =>
    event._tag === 'SnapshotPublished' ? handle(event) : contain(event.stream, () => handle(event)),
  )
  return {
    publish: (snapshot) => dispatch({ _tag: 'SnapshotPublished', snapshot }),
    accept: accepter(streams, dispatch, observer, logger),
    endAll: (reason) => [...streams.values()].forEach((stream) => stream.end(reason)),
    streams: () => streams.size,
  }
}

/** Numbers the streams, and turns what happens to them into events. */
const accepter = (
  streams: Map<StreamId, OpenStream>,
  dispatch: (event: FleetEvent) => void,
  observer: XdsObserver,
  logger: Logger,
): FleetRunner['accept'] => {
  let accepted = 0
  return (variant, raw) => {
    accepted += 1
    const id = String(accepted)
    const stream = { ...raw, variant }
    streams.set(id, stream)
    observer({ _tag: 'StreamOpened', stream: id, variant, peer: stream.peer })
    dispatch({ _tag: 'StreamOpened', stream: id, variant })
    return {
      onRequest: (bytes) => {
        const request = decodeRequest(variant, bytes)
        if (E.isRight(request))
          return dispatch({ _tag: 'RequestReceived', stream: id, request: request.right })
        logger.log('warn', 'a malformed request', { stream: id, peer: stream.peer })
        endWith(stream, malformed(variant, request.left))
      },
      onClosed: (reason) => {
        streams.delete(id)
        dispatch({ _tag: 'StreamClosed', stream: id })
        observer({ _tag: 'StreamClosed', stream: id, reason })
      },
    }
  }
}

/**
 * Handles one item at a time: one that comes meanwhile, from an observer that publishes or a stream
 * that breaks as it is written to, waits for its turn. So no more wait than observers publish in
 * one turn, and one for each stream.
 */
const oneAtATime = <A>(handle: (item: A) => void): ((item: A) => void) => {
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

/** Carries out one effect. No branch decides anything. */
const perform = (
  id: StreamId,
  stream: OpenStream,
  effect: SessionEffect,
  encode: EncodeResponse,
  observer: XdsObserver,
): void => {
  switch (effect._tag) {
    case 'Send': {
      const bytes = encode(stream.variant, effect.response)
      stream.send(bytes)
      return observer(responseSent(id, effect, bytes.length))
    }
    case 'NodeIdentified':
      return observer({ ...effect, stream: id })
    case 'Acked':
      return observer({ ...effect, _tag: 'ResponseAcked', stream: id })
    case 'Nacked':
      return observer({ ...effect, _tag: 'ResponseNacked', stream: id })
    case 'Close':
      return endWith(stream, effect)
  }
}

const responseSent = (
  stream: StreamId,
  { response }: SessionEffect & { readonly _tag: 'Send' },
  bytes: number,
): XdsEvent => ({
  _tag: 'ResponseSent',
  stream,
  typeUrl: response.typeUrl,
  nonce: response.nonce,
  version: response.version,
  resources: response.resources.length,
  removed: response.removed.length,
  bytes,
})

const endWith = (stream: XdsStream, endStatus: EndStatus): void =>
  stream.end(`${endStatus.code}: ${endStatus.message}`, endStatus)

const malformed = (variant: Variant, problem: string): EndStatus => {
  const message = variant === 'sotw' ? 'DiscoveryRequest' : 'DeltaDiscoveryRequest'
  return { code: 'INVALID_ARGUMENT', message: `this is no ${message}: ${problem}` }
}

const internalError: EndStatus = {
  code: 'INTERNAL',
  message: 'the control plane failed on this stream; its log says how',
}
