import * as E from 'fp-ts/lib/Either.js'
import type { Variant } from '../../core/xds/messages.js'
import { showStatus } from '../../core/xds/open-streams.js'
import type { RunningFleet } from '../../core/xds/run-fleet.js'
import type { Logger } from '../../ports/logger.js'
import { decodeRequest } from './request-decoder.js'
import { responseEncoder } from './response-encoder.js'
import type { EndStatus, StreamListener, XdsStream } from './stream.js'

/**
 * Takes a new stream in, and returns what is to be told of it. Does nothing else: whatever comes of a
 * stream comes of what its listener is told.
 */
export type Accept = (variant: Variant, stream: XdsStream) => StreamListener

/** Numbers the streams of a server, and puts the codec between them and the fleet. */
export const accepter = (fleet: RunningFleet, logger: Logger): Accept => {
  const encode = responseEncoder()
  let accepted = 0
  return (variant, { peer, send, end }) => {
    accepted += 1
    const id = String(accepted)
    return {
      onOpened: () =>
        fleet.open(id, {
          variant,
          peer,
          send: (response) => {
            const bytes = encode(variant, response)
            send(bytes)
            return bytes.length
          },
          end,
        }),
      onRequest: (bytes) => {
        const request = decodeRequest(variant, bytes)
        if (E.isRight(request)) return fleet.receive(id, request.right)
        logger.log('warn', 'a malformed request', { stream: id, peer })
        const status = malformed(variant, request.left)
        end(showStatus(status), status)
      },
      onClosed: (reason) => fleet.close(id, reason),
    }
  }
}

const malformed = (variant: Variant, problem: string): EndStatus => {
  const message = variant === 'sotw' ? 'DiscoveryRequest' : 'DeltaDiscoveryRequest'
  return { code: 'INVALID_ARGUMENT', message: `this is no ${message}: ${problem}` }
}
