import { Server, ServerCredentials } from '@grpc/grpc-js'
import * as E from 'fp-ts/lib/Either.js'
import { decodeRequest } from '../../src/adapters/xds/request-decoder.js'
import { aggregatedDiscoveryService, type RawCall } from '../../src/adapters/xds/service.js'
import type { DiscoveryRequest, Variant } from '../../src/core/xds/messages.js'
import {
  DeltaDiscoveryResponse,
  DiscoveryResponse,
} from '../../src/gen/envoy/service/discovery/v3/discovery.js'
import type { Sent } from './scripted-envoy.js'

/** The server's end of the protocol: it does what it is told, whether the protocol allows it or not. */
export interface ScriptedAds {
  readonly port: number
  /** How many streams were opened so far. */
  readonly opened: () => number
  /** Sends on the latest stream. Throws where none is open. */
  readonly send: (response: Sent) => void
  /** Ends the latest stream, as a server does that goes away. */
  readonly breakStream: () => void
  readonly stop: () => void
}

/** Serves on a free port of `127.0.0.1`; is told of each request of the latest stream. */
export const scriptedAds = async (
  onRequest: (request: DiscoveryRequest) => void,
): Promise<ScriptedAds> => {
  let latest: { readonly call: RawCall; readonly variant: Variant } | undefined
  let opened = 0
  const serve =
    (variant: Variant) =>
    (call: RawCall): void => {
      latest = { call, variant }
      opened += 1
      call.on('data', (bytes: Buffer) => {
        const request = decodeRequest(variant, bytes)
        if (E.isLeft(request)) throw new Error(`an Envoy sent no request: ${request.left}`)
        if (latest?.call === call) onRequest(request.right)
      })
      call.on('error', () => undefined) // the other end has gone, which is no concern here
      call.on('end', () => call.end())
    }
  const server = new Server()
  server.addService(aggregatedDiscoveryService, {
    StreamAggregatedResources: serve('sotw'),
    DeltaAggregatedResources: serve('delta'),
  })
  return {
    port: await bind(server),
    opened: () => opened,
    send: (response) => {
      if (latest === undefined) throw new Error('no stream is open')
      latest.call.write(encode(latest.variant, response))
    },
    breakStream: () => {
      latest?.call.end()
      latest = undefined
    },
    stop: () => server.forceShutdown(),
  }
}

const bind = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port)
      else reject(error)
    })
  })

const encode = (variant: Variant, sent: Sent): Buffer => {
  const { typeUrl, version, nonce, resources = [], removed = [] } = sent
  const items = resources.map((item) => ({
    name: item.name,
    version: item.version ?? version,
    resource: { typeUrl: item.typeUrl ?? typeUrl, value: Buffer.from(item.bytes) },
  }))
  const bytes =
    variant === 'sotw'
      ? DiscoveryResponse.encode({
          typeUrl,
          nonce,
          versionInfo: version,
          resources: items.map(({ resource }) => resource),
        })
      : DeltaDiscoveryResponse.encode({
          typeUrl,
          nonce,
          systemVersionInfo: version,
          resources: items,
          removedResources: removed,
        })
  return Buffer.from(bytes.finish())
}
