import { isDeepStrictEqual } from 'node:util'
import { equals, fromBinary } from '@bufbuild/protobuf'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { responseEncoder } from '../../src/adapters/xds/response-encoder.js'
import { entries } from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { translate } from '../../src/core/translate.js'
import { type TypeUrl, typeUrls } from '../../src/core/type-url.js'
import type { Variant } from '../../src/core/xds/messages.js'
import { Cluster } from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { Router } from '../../src/gen/envoy/extensions/filters/http/router/v3/router.js'
import { HttpConnectionManager } from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../../src/gen/envoy/service/discovery/v3/discovery.js'
import { world } from '../support/oracle/world.js'
import { encodedMessages } from '../support/reflected-messages.js'
import { descriptorOf, reencode, toJson, unknownFieldsOf } from '../support/reflection.js'

interface Codec {
  readonly $type: string
  readonly decode: (bytes: Uint8Array) => unknown
}

const insideAny: ReadonlyArray<Codec> = [
  Cluster,
  ClusterLoadAssignment,
  HttpConnectionManager,
  Listener,
  RouteConfiguration,
  Router,
]

const responseCodec = (variant: Variant): Codec =>
  variant === 'sotw' ? DiscoveryResponse : DeltaDiscoveryResponse

/** What ts-proto decodes, with what it decodes of each Any in the Any's place, at any depth. */
const expanded = (value: unknown): unknown => {
  if (isAny(value)) {
    const codec = insideAny.find(({ $type }) => value.typeUrl.endsWith(`/${$type}`))
    if (codec === undefined) throw new Error(`the test knows no codec of ${value.typeUrl}`)
    return { typeUrl: value.typeUrl, message: expanded(codec.decode(value.value)) }
  }
  if (Array.isArray(value)) return value.map(expanded)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expanded(item)]))
}

const isAny = (value: unknown): value is { readonly typeUrl: string; readonly value: Uint8Array } =>
  typeof value === 'object' &&
  value !== null &&
  'typeUrl' in value &&
  'value' in value &&
  value.value instanceof Uint8Array

const encoded = (variant: Variant, typeUrl: TypeUrl, resources: Iterable<Resource>): Uint8Array =>
  Uint8Array.from(
    responseEncoder()(variant, {
      typeUrl,
      nonce: '1',
      version: 'v',
      resources: [...resources],
      removed: variant === 'delta' ? ['gone'] : [],
    }),
  )

describe('what translation makes, on its way to an Envoy,', () => {
  test.prop([world, fc.constantFrom<Variant>('sotw', 'delta')], { numRuns: 1_000 })(
    'has no field that another codec does not know, and is the same when that encodes it',
    ({ routes, context }, variant) => {
      const { snapshot } = translate(routes, context)
      const { $type, decode } = responseCodec(variant)
      for (const view of snapshot.dataPlanes.values())
        for (const typeUrl of typeUrls) {
          const bytes = encoded(variant, typeUrl, entries(view[typeUrl]))
          expect(unknownFieldsOf($type, bytes)).toEqual([])
          expectEqual(expanded(decode(reencode($type, bytes))), expanded(decode(bytes)))
        }
    },
  )
})

/** `toEqual` makes a good report, and takes its time for it even where there is none to make. */
const expectEqual = (actual: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

interface GeneratedCodec<A> extends Codec {
  readonly decode: (bytes: Uint8Array) => A
  readonly encode: (message: A) => { readonly finish: () => Uint8Array }
}

const roundTrip = <A>(codec: GeneratedCodec<A>) => ({
  typeName: codec.$type,
  throughOurs: (bytes: Uint8Array): Uint8Array => codec.encode(codec.decode(bytes)).finish(),
})

describe.each([
  roundTrip(Cluster),
  roundTrip(ClusterLoadAssignment),
  roundTrip(DeltaDiscoveryRequest),
  roundTrip(DeltaDiscoveryResponse),
  roundTrip(DiscoveryRequest),
  roundTrip(DiscoveryResponse),
  roundTrip(HttpConnectionManager),
  roundTrip(Listener),
  roundTrip(RouteConfiguration),
])('any $typeName', ({ typeName, throughOurs }) => {
  test.prop([encodedMessages(typeName)], { numRuns: 1_000 })(
    'of another codec is the same to it when ours has decoded and encoded it',
    (bytes) => {
      const ours = throughOurs(bytes)
      const desc = descriptorOf(typeName)
      expect(unknownFieldsOf(typeName, ours)).toEqual([])
      expect(equals(desc, fromBinary(desc, ours), fromBinary(desc, bytes))).toBe(true)
    },
  )
})

describe('the proof would notice', () => {
  const any = (typeUrl: string, value: Uint8Array) => ({
    $case: 'typedConfig' as const,
    value: { typeUrl, value },
  })
  const listenerOf = (typeUrl: string, config: Uint8Array): Uint8Array =>
    Listener.encode({
      filterChains: [{ filters: [{ configType: any(typeUrl, config) }] }],
    }).finish()
  const manager = `type.googleapis.com/${HttpConnectionManager.$type}`
  const withUnknown = (bytes: Uint8Array): Uint8Array =>
    new BinaryWriter()
      .raw(bytes)
      .uint32((9_999 << 3) | 0)
      .uint32(1)
      .finish()

  test('an unknown field of the message itself', () => {
    expect(unknownFieldsOf(Listener.$type, withUnknown(new Uint8Array()))).toEqual(['#9999'])
  })

  test('an unknown field within an Any, within another', () => {
    const router = withUnknown(Router.encode({}).finish())
    const config = HttpConnectionManager.encode({
      httpFilters: [{ name: 'r', configType: any(`type.googleapis.com/${Router.$type}`, router) }],
    }).finish()
    expect(unknownFieldsOf(Listener.$type, listenerOf(manager, config))).toEqual([
      'filter_chains[0].filters[0].typed_config.http_filters[0].typed_config#9999',
    ])
  })

  test('an Any of a type that there is not', () => {
    const typeUrl = 'type.googleapis.com/envoy.no.such.Type'
    expect(unknownFieldsOf(Listener.$type, listenerOf(typeUrl, new Uint8Array()))).toEqual([
      `filter_chains[0].filters[0].typed_config: ${typeUrl} is not in the descriptor set`,
    ])
  })

  test('a difference within an Any', () => {
    const one = listenerOf(manager, HttpConnectionManager.encode({ statPrefix: 'a' }).finish())
    const other = listenerOf(manager, HttpConnectionManager.encode({ statPrefix: 'b' }).finish())
    expect(expanded(Listener.decode(one))).not.toEqual(expanded(Listener.decode(other)))
  })
})

test('the JSON of a message has the names of Envoy, and what is in an Any', () => {
  const config = HttpConnectionManager.encode({ statPrefix: 'http' }).finish()
  const typeUrl = `type.googleapis.com/${HttpConnectionManager.$type}`
  const bytes = Listener.encode({
    name: 'http',
    filterChains: [
      { filters: [{ configType: { $case: 'typedConfig', value: { typeUrl, value: config } } }] },
    ],
  }).finish()
  expect(toJson(Listener.$type, bytes)).toEqual({
    name: 'http',
    filter_chains: [{ filters: [{ typed_config: { '@type': typeUrl, stat_prefix: 'http' } }] }],
  })
})
