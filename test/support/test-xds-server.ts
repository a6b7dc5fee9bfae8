import type { ChannelCredentials } from '@grpc/grpc-js'
import { onTestFinished, vi } from 'vitest'
import {
  defaultXdsLimits,
  serveXds,
  type XdsServer,
  type XdsServerOptions,
} from '../../src/adapters/xds/index.js'
import type { XdsEvent } from '../../src/ports/xds-observer.js'
import { patienceMs, type RawAdsClient, rawAdsClient } from './raw-ads-client.js'

/** A server for one test: on a free port, stopped when the test ends. */
export interface TestXdsServer extends XdsServer {
  /** All that was observed. */
  readonly events: ReadonlyArray<XdsEvent>
  /** The observed events of one kind. */
  readonly seen: <Tag extends XdsEvent['_tag']>(
    tag: Tag,
  ) => ReadonlyArray<Extract<XdsEvent, { readonly _tag: Tag }>>
  readonly stop: () => Promise<void>
}

export const startServer = async (
  options: Partial<XdsServerOptions> = {},
  controller: AbortController = new AbortController(),
): Promise<TestXdsServer> => {
  const events: Array<XdsEvent> = []
  const observer = (event: XdsEvent): void => {
    events.push(event)
    options.observer?.(event)
  }
  const limits = { ...defaultXdsLimits, stopGraceMs: 500, ...options.limits }
  const server = await serveXds(
    { host: '127.0.0.1', port: 0, ...options, limits, observer },
    controller.signal,
  )
  const stop = (): Promise<void> => {
    controller.abort()
    return server.finished
  }
  onTestFinished(stop)
  return { ...server, events, seen: (tag) => events.filter((event) => isOf(event, tag)), stop }
}

const isOf = <Tag extends XdsEvent['_tag']>(
  event: XdsEvent,
  tag: Tag,
): event is Extract<XdsEvent, { readonly _tag: Tag }> => event._tag === tag

/** A client of a server for one test; it speaks plaintext if it is not told otherwise. */
export const connect = (
  { address }: Pick<XdsServer, 'address'>,
  credentials?: ChannelCredentials,
): RawAdsClient => {
  const client = rawAdsClient(address.port, credentials)
  onTestFinished(client.close)
  return client
}

/** Waits for something to come true, no longer than is reasonable. */
export const eventually = (assertion: () => void): Promise<void> =>
  vi.waitFor(assertion, { timeout: patienceMs, interval: 5 })
