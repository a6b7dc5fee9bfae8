import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as E from 'fp-ts/lib/Either.js'
import { routeType } from 'edgewright'
import { routesOf } from '../../../src/adapters/memory/envoy/routing/host-routes.js'
import { decodeRequest } from '../../../src/adapters/xds/request-decoder.js'
import type { HostPort } from '../../../src/host/bootstrap.js'
import { RouteConfiguration } from '../../../src/gen/envoy/config/route/v3/route.js'
import {
  DeltaDiscoveryResponse,
  DiscoveryResponse,
} from '../../../src/gen/envoy/service/discovery/v3/discovery.js'

/** One message about route tables that went through, or one stream that began or ended. */
export type Recorded = { readonly atMs: number; readonly stream: number } & (
  | { readonly _tag: 'Opened' | 'Closed' }
  /** An Envoy has said who it is. */
  | { readonly _tag: 'Identified'; readonly node: string }
  /** An Envoy has said of some type that it holds something of an earlier stream. */
  | { readonly _tag: 'Claimed' }
  /** Route tables were sent to the Envoy. */
  | { readonly _tag: 'Sent'; readonly nonce: string; readonly tables: ReadonlyArray<SentTable> }
  | { readonly _tag: 'Acked' | 'Nacked'; readonly nonce: string }
)

export interface SentTable {
  readonly name: string
  /** The objects whose routes stand in it, as `namespace/name`. */
  readonly objects: ReadonlySet<string>
}

/** A process between Envoys and a control plane that passes everything on, and writes it down. */
export interface RecordingProxy {
  /** What Envoys dial. */
  readonly address: HostPort
  /** In the order of time, which is that of `performance.now()` here. */
  readonly records: ReadonlyArray<Recorded>
  /** Passes on only the first response of each type on each stream, or all of them again. */
  readonly setCurt: (isCurt: boolean) => Promise<void>
  readonly stop: () => Promise<void>
}

interface ChildMessage {
  readonly tag: 'Listening' | 'Set' | 'Opened' | 'Closed' | 'Request' | 'Response'
  readonly atMs: number
  readonly port?: number
  readonly stream?: number
  readonly variant?: 'sotw' | 'delta'
  readonly bytes?: string
}

const childPath = fileURLToPath(new URL('proxy-child.mjs', import.meta.url))

/** Starts one before a control plane on 127.0.0.1. */
export const startRecordingProxy = async (targetPort: number): Promise<RecordingProxy> => {
  // Both are the machine's monotonic clock, from different beginnings.
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()
  const child = fork(childPath, [`${targetPort}`], { execArgv: [] })
  const records: Array<Recorded> = []
  const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  const settings: Array<() => void> = []
  const port = await new Promise<number>((resolve, reject) => {
    child.on('error', reject).on('exit', () => reject(new Error('the proxy has ended')))
    child.on('message', (message: ChildMessage) => {
      if (message.tag === 'Listening') resolve(message.port ?? 0)
      else if (message.tag === 'Set') settings.shift()?.()
      else records.push(...recordsOf({ ...message, atMs: message.atMs - offsetMs }))
    })
  })
  return {
    address: { host: '127.0.0.1', port },
    records,
    setCurt: (isCurt) =>
      new Promise((resolve) => {
        settings.push(resolve)
        child.send({ isCurt })
      }),
    stop: async () => {
      child.kill()
      await exited
    },
  }
}

const recordsOf = ({ tag, ...message }: ChildMessage): ReadonlyArray<Recorded> => {
  const { atMs, stream = 0, variant = 'delta' } = message
  const bytes = Buffer.from(message.bytes ?? '', 'base64')
  switch (tag) {
    case 'Opened':
    case 'Closed':
      return [{ _tag: tag, atMs, stream }]
    case 'Request':
      return requestRecords(variant, bytes).map((record) => ({ ...record, atMs, stream }))
    case 'Response':
      return responseRecords(variant, bytes).map((record) => ({ ...record, atMs, stream }))
    case 'Listening':
    case 'Set':
      return []
  }
}

type Bare = Recorded extends infer R
  ? R extends Recorded
    ? Omit<R, 'atMs' | 'stream'>
    : never
  : never

const requestRecords = (variant: 'sotw' | 'delta', bytes: Uint8Array): ReadonlyArray<Bare> => {
  const decoded = decodeRequest(variant, bytes)
  if (E.isLeft(decoded)) throw new Error(`an Envoy sent no request: ${decoded.left}`)
  const request = decoded.right
  const { node, typeUrl, responseNonce: nonce, errorDetail } = request
  const claims =
    request._tag === 'Sotw'
      ? nonce === '' && request.versionInfo !== ''
      : request.initialResourceVersions.size > 0
  const said: Array<Bare> = []
  if (node !== undefined) said.push({ _tag: 'Identified', node: node.id })
  if (claims) said.push({ _tag: 'Claimed' })
  if (typeUrl === routeType && nonce !== '')
    said.push({ _tag: errorDetail === undefined ? 'Acked' : 'Nacked', nonce })
  return said
}

const responseRecords = (variant: 'sotw' | 'delta', bytes: Uint8Array): ReadonlyArray<Bare> => {
  const {
    typeUrl,
    nonce = '',
    values,
  } = variant === 'sotw' ? sotwTables(bytes) : deltaTables(bytes)
  if (typeUrl !== routeType) return []
  return [{ _tag: 'Sent', nonce, tables: values.map(tableIn) }]
}

const sotwTables = (bytes: Uint8Array) => {
  const { typeUrl, nonce, resources = [] } = DiscoveryResponse.decode(bytes)
  return { typeUrl, nonce, values: resources.flatMap(({ value }) => value ?? []) }
}

const deltaTables = (bytes: Uint8Array) => {
  const { typeUrl, nonce, resources = [] } = DeltaDiscoveryResponse.decode(bytes)
  return { typeUrl, nonce, values: resources.flatMap(({ resource }) => resource?.value ?? []) }
}

/** Each Route has the name of its object. */
const tableIn = (bytes: Uint8Array): SentTable => {
  const { name = '', virtualHosts = [] } = RouteConfiguration.decode(bytes)
  const names = virtualHosts.flatMap(routesOf).map((route) => route.name ?? '')
  return { name, objects: new Set(names) }
}
