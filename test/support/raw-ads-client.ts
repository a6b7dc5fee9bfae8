import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials as channelCredentials,
  status as statusCodes,
} from '@grpc/grpc-js'
import type { Variant } from '../../src/core/xds/messages.js'
import {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../../src/gen/envoy/service/discovery/v3/discovery.js'

/** How a stream ended: the gRPC status by name. */
export interface Ending {
  readonly code: string
  readonly details: string
}

/**
 * The client's end of one stream: it does what it is told, whether the protocol allows it or not.
 */
export interface RawStream<Request, Response> {
  readonly send: (request: Request) => void
  /** Sends a message that may be no request at all. */
  readonly sendBytes: (bytes: Uint8Array) => void
  /**
   * The next response that was not taken yet. Rejects when the stream ends, or after `patienceMs`.
   */
  readonly next: () => Promise<Response>
  /** The sizes of all responses that have arrived, taken or not, in bytes. */
  readonly receivedBytes: () => ReadonlyArray<number>
  /** Stops and goes on reading from the socket. */
  readonly pause: () => void
  readonly resume: () => void
  /** Says that no more requests come. */
  readonly end: () => void
  readonly cancel: () => void
  readonly ended: Promise<Ending>
}

/** One connection. */
export interface RawAdsClient {
  readonly sotw: () => RawStream<DiscoveryRequest, DiscoveryResponse>
  readonly delta: () => RawStream<DeltaDiscoveryRequest, DeltaDiscoveryResponse>
  readonly close: () => void
}

/**
 * How long a test waits for a message, in milliseconds: long, since it is only waited for in vain
 * once.
 */
export const patienceMs = 20_000

/** Connects to a server at `127.0.0.1`. Takes messages of any size. */
export const rawAdsClient = (
  port: number,
  credentials: ChannelCredentials = channelCredentials.createInsecure(),
): RawAdsClient => {
  const client = new Client(`127.0.0.1:${port}`, credentials, {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    // A connection of its own for each client.
    'grpc.use_local_subchannel_pool': 1,
    // What a certificate must name: in TLS a server has a name, and an IP address is none.
    'grpc.ssl_target_name_override': 'localhost',
  })
  return {
    sotw: () => openRaw(client, 'sotw', DiscoveryRequest, DiscoveryResponse),
    delta: () => openRaw(client, 'delta', DeltaDiscoveryRequest, DeltaDiscoveryResponse),
    close: () => client.close(),
  }
}

/**
 * The request that accepts a state-of-the-world response: of its type, its version and its nonce.
 */
export const ackOf = ({
  typeUrl,
  versionInfo,
  nonce: responseNonce,
}: DiscoveryResponse): DiscoveryRequest => ({ typeUrl, versionInfo, responseNonce })

export const pathOf = (variant: Variant): string =>
  `/envoy.service.discovery.v3.AggregatedDiscoveryService/${
    variant === 'sotw' ? 'Stream' : 'Delta'
  }AggregatedResources`

const openRaw = <Request, Response>(
  client: Client,
  variant: Variant,
  requests: { readonly encode: (request: Request) => { readonly finish: () => Uint8Array } },
  responses: { readonly decode: (bytes: Uint8Array) => Response },
): RawStream<Request, Response> => {
  const call: ClientDuplexStream<Uint8Array, Uint8Array> = client.makeBidiStreamRequest(
    pathOf(variant),
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => Uint8Array.from(bytes),
  )
  const inbox = mailbox<Response>()
  const receivedBytes: Array<number> = []
  call.on('data', (bytes: Uint8Array) => {
    receivedBytes.push(bytes.length)
    inbox.put(responses.decode(bytes))
  })
  call.on('error', () => undefined) // what is wrong is in the status
  const ended = new Promise<Ending>((resolve) => {
    call.on('status', ({ code, details }) => {
      inbox.end(`the stream has ended with ${statusCodes[code]}: ${details}`)
      resolve({ code: statusCodes[code], details })
    })
  })
  return {
    send: (request) => void call.write(requests.encode(request).finish()),
    sendBytes: (bytes) => void call.write(bytes),
    next: inbox.next,
    receivedBytes: () => receivedBytes,
    pause: () => void call.pause(),
    resume: () => void call.resume(),
    end: () => void call.end(),
    cancel: () => call.cancel(),
    ended,
  }
}

interface Mailbox<A> {
  readonly put: (item: A) => void
  readonly end: (why: string) => void
  readonly next: () => Promise<A>
}

interface Waiter<A> {
  readonly resolve: (item: A) => void
  readonly reject: (error: Error) => void
}

const mailbox = <A>(): Mailbox<A> => {
  const items: Array<A> = []
  const waiters: Array<Waiter<A>> = []
  let ended: string | undefined
  return {
    put: (item) => {
      const waiter = waiters.shift()
      if (waiter === undefined) items.push(item)
      else waiter.resolve(item)
    },
    end: (why) => {
      ended = why
      for (const waiter of waiters.splice(0)) waiter.reject(new Error(why))
    },
    next: () => {
      const item = items.shift()
      if (item !== undefined) return Promise.resolve(item)
      if (ended !== undefined) return Promise.reject(new Error(ended))
      return patiently((waiter) => waiters.push(waiter))
    },
  }
}

const patiently = <A>(wait: (waiter: Waiter<A>) => void): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`nothing came within ${patienceMs} ms`)),
      patienceMs,
    )
    wait({
      resolve: (item) => {
        clearTimeout(timer)
        resolve(item)
      },
      reject: (error) => {
        clearTimeout(timer)
        reject(error)
      },
    })
  })
