import { eventOf, type XdsEvent } from './events.js'
import type { StreamId } from './fleet.js'
import type { Response, Variant } from './messages.js'
import type { CloseCode, SessionEffect } from './session.js'

/** The server's end of one stream. What it throws is contained. */
export interface FleetStream {
  readonly variant: Variant
  /** Where the client is, in words. */
  readonly peer: string
  /** Hands a response over, and returns how many bytes it took. Must not wait. */
  readonly send: (response: Response) => number
  /** Ends the stream behind what was sent: with OK, or with a status. */
  readonly end: (reason: string, status?: StreamStatus) => void
}

/** A gRPC status other than OK, its code by name. */
export interface StreamStatus {
  readonly code: CloseCode | 'INTERNAL'
  readonly message: string
}

/** The streams that are open, each behind a wall of its own. Nothing here throws. */
export interface OpenStreams {
  readonly add: (id: StreamId, stream: FleetStream) => void
  readonly count: () => number
  /** Runs what concerns one stream alone: if that throws, the stream ends with INTERNAL. */
  readonly contain: (id: StreamId, run: () => void) => void
  /** Carries an effect out, contained, and tells of it; does nothing if the stream has ended. */
  readonly perform: (id: StreamId, effect: SessionEffect) => void
  /** To be called when a stream has ended; of several calls the first counts. */
  readonly close: (id: StreamId, reason: string) => void
  /** Ends every stream with OK. */
  readonly endAll: (reason: string) => void
}

/** What the outside is told of the streams. None of these may throw. */
export interface StreamEvents {
  readonly onEvent: (event: XdsEvent) => void
  readonly onClosed: (id: StreamId, reason: string) => void
  readonly onFailure: (id: StreamId, error: unknown) => void
}

/** No streams, with room for any number. */
export const openStreams = ({ onEvent, onClosed, onFailure }: StreamEvents): OpenStreams => {
  const streams = new Map<StreamId, FleetStream>()
  const close = (id: StreamId, reason: string): void => {
    if (streams.delete(id)) onClosed(id, reason)
  }
  const end = (id: StreamId, reason: string, status?: StreamStatus): void => {
    attempt(
      () => streams.get(id)?.end(reason, status),
      (error) => onFailure(id, error),
    )
    close(id, reason)
  }
  const contain = (id: StreamId, run: () => void): void =>
    attempt(run, (error) => {
      onFailure(id, error)
      end(id, showStatus(internalError), internalError)
    })
  const carryOut = (id: StreamId, stream: FleetStream, effect: SessionEffect): void => {
    const bytes = effect._tag === 'Send' ? stream.send(effect.response) : 0
    const event = eventOf(id, effect, { bytes })
    if (event !== undefined) onEvent(event)
    if (effect._tag === 'Close') end(id, showStatus(effect), effect)
  }
  return {
    add: (id, stream) => void streams.set(id, stream),
    count: () => streams.size,
    contain,
    perform: (id, effect) => {
      const stream = streams.get(id)
      if (stream !== undefined) contain(id, () => carryOut(id, stream, effect))
    },
    close,
    endAll: (reason) => {
      for (const id of [...streams.keys()]) end(id, reason)
    },
  }
}

/** Why a stream has closed that was ended with a status. */
export const showStatus = ({
  code,
  message,
}: {
  readonly code: string
  readonly message: string
}): string => `${code}: ${message}`

const internalError: StreamStatus = {
  code: 'INTERNAL',
  message: 'the control plane failed on this stream; its log says how',
}

const attempt = (run: () => void, onThrow: (error: unknown) => void): void => {
  try {
    run()
  } catch (error) {
    onThrow(error)
  }
}
