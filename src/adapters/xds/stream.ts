import { status } from '@grpc/grpc-js'
import type { StreamStatus } from '../../core/xds/open-streams.js'
import type { RawCall } from './service.js'

/** A gRPC status other than OK: its code by name, and what the client reads in its log. */
export interface EndStatus {
  readonly code: StreamStatus['code'] | 'UNAVAILABLE'
  readonly message: string
}

/** The server's end of one open stream. */
export interface XdsStream {
  /** Where the client is, as in `127.0.0.1:41234`. */
  readonly peer: string
  /** Hands over an encoded response. Never waits: see `maxQueuedResponses`. */
  readonly send: (bytes: Buffer) => void
  /**
   * Ends the stream, behind the responses that were sent: with OK, or with a status. Nothing is
   * taken from the client any more.
   */
  readonly end: (reason: string, endStatus?: EndStatus) => void
}

export interface StreamListener {
  /** Called exactly once, and before everything else. */
  readonly onOpened: () => void
  readonly onRequest: (bytes: Buffer) => void
  /** Called exactly once, from within `onOpened` at the earliest; nothing is called after it. */
  readonly onClosed: (reason: string) => void
}

/**
 * Makes a stream of a call. `listen` must do nothing with the stream before it returns: what it does
 * then, it does in `onOpened`, when everything is in place, and may end the stream there.
 *
 * No more is read from a client while `maxQueuedResponses` of its responses wait in memory, so that
 * one that answers without reading queues at most those, and what one more request brings forth: a
 * response of each type. What it goes on sending stays in its own buffers, apart from 16 requests
 * that gRPC reads ahead. Waiting responses delay no other stream.
 */
export const openStream = (
  call: RawCall,
  maxQueuedResponses: number,
  listen: (stream: XdsStream) => StreamListener,
): void => {
  let open = true
  const close = (reason: string): void => {
    if (!open) return
    open = false
    listener.onClosed(reason)
  }
  const onFlushed = (): void => {
    if (call.isPaused() && call.writableLength < maxQueuedResponses) call.resume()
  }
  const listener = listen({
    peer: call.getPeer(),
    send: (bytes) => {
      if (!open) return
      call.write(bytes, onFlushed)
      if (call.writableLength >= maxQueuedResponses) call.pause()
    },
    end: (reason, endStatus) => {
      if (!open) return
      close(reason)
      endCall(call, endStatus)
    },
  })
  whenEnded(call, close, () => {
    if (!open) return
    close('the client ended it')
    call.end()
  })
  call.on('data', (bytes: Buffer) => {
    if (open) listener.onRequest(bytes)
  })
  listener.onOpened()
}

/** A stream may end by any of these, in any order, and more than one of them comes. */
const whenEnded = (
  call: RawCall,
  close: (reason: string) => void,
  onClientEnd: () => void,
): void => {
  call.on('error', (error) => close(error.message))
  call.on('cancelled', () => close('the client cancelled it, or its connection was lost'))
  call.on('close', () => close('it was closed'))
  // A lost stream first looks as one that the client has ended: `cancelled` follows in the same turn.
  call.on('end', () => {
    setImmediate(onClientEnd)
  })
}

/** Ends a call behind what was written to it: with OK, or with a status. */
export const endCall = (call: RawCall, endStatus?: EndStatus): void => {
  if (endStatus === undefined) call.end()
  else call.emit('error', toGrpc(endStatus))
}

/**
 * The longest status message, in UTF-16 code units. It travels in an HTTP/2 header, percent-encoded
 * and so up to nine times as long, must fit into the 16 KiB that clients take, and may quote the
 * client.
 */
const maxStatusMessage = 1024

/** gRPC ends a stream with the status in an error that the call emits. */
const toGrpc = ({ code, message }: EndStatus): Error => {
  const details = message.slice(0, maxStatusMessage).replace(loneSurrogates, '\uFFFD')
  return Object.assign(new Error(details), { code: status[code], details })
}

/** gRPC encodes the message as a URI component, which throws on half a character. */
const loneSurrogates = /\p{Surrogate}/gu
