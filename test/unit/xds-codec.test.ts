import { fc, test } from '@fast-check/vitest'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect } from 'vitest'
import { decodeRequest } from '../../src/adapters/xds/request-decoder.js'
import {
  keptBodies,
  largePieceBytes,
  responseEncoder,
} from '../../src/adapters/xds/response-encoder.js'
import { bytesResource, type Resource, tableResource } from '../../src/core/resource.js'
import { clusterType, routeType, typeUrls } from '../../src/core/type-url.js'
import type { Response, Variant } from '../../src/core/xds/messages.js'
import {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../../src/gen/envoy/service/discovery/v3/discovery.js'
import { unknownFieldsOf } from '../support/reflection.js'

const node = {
  id: 'envoy-1',
  cluster: 'edge-envoy',
  userAgentName: 'envoy',
  userAgentVersionType: {
    $case: 'userAgentBuildVersion' as const,
    value: { version: { majorNumber: 1, minorNumber: 40, patch: 0 } },
  },
}
const identity = {
  id: 'envoy-1',
  cluster: 'edge-envoy',
  buildVersion: { major: 1, minor: 40, patch: 0 },
}

describe('a request', () => {
  test('of the state of the world keeps all that the protocol speaks of', () => {
    const bytes = DiscoveryRequest.encode({
      node,
      typeUrl: clusterType,
      resourceNames: ['a', '*'],
      versionInfo: 'v1',
      responseNonce: 'n1',
      errorDetail: { code: 13, message: 'no' },
    }).finish()
    expect(decodeRequest('sotw', bytes)).toEqual(
      E.right({
        _tag: 'Sotw',
        node: identity,
        typeUrl: clusterType,
        resourceNames: ['a', '*'],
        versionInfo: 'v1',
        responseNonce: 'n1',
        errorDetail: { code: 13, message: 'no' },
      }),
    )
  })

  test('of the incremental variant keeps all that the protocol speaks of', () => {
    const bytes = DeltaDiscoveryRequest.encode({
      node,
      typeUrl: routeType,
      resourceNamesSubscribe: ['a'],
      resourceNamesUnsubscribe: ['*'],
      initialResourceVersions: { a: 'v1', '7': 'v2' },
      responseNonce: 'n1',
      errorDetail: { code: 0, message: '' },
    }).finish()
    expect(decodeRequest('delta', bytes)).toEqual(
      E.right({
        _tag: 'Delta',
        node: identity,
        typeUrl: routeType,
        subscribe: ['a'],
        unsubscribe: ['*'],
        initialResourceVersions: new Map([
          ['a', 'v1'],
          ['7', 'v2'],
        ]),
        responseNonce: 'n1',
        errorDetail: { code: 0, message: '' },
      }),
    )
  })

  test('without any field has empty strings and lists, no node, and no error', () => {
    const empty = { node: undefined, typeUrl: '', responseNonce: '', errorDetail: undefined }
    expect(decodeRequest('sotw', new Uint8Array())).toEqual(
      E.right({ _tag: 'Sotw', ...empty, resourceNames: [], versionInfo: '' }),
    )
    expect(decodeRequest('delta', new Uint8Array())).toEqual(
      E.right({
        _tag: 'Delta',
        ...empty,
        subscribe: [],
        unsubscribe: [],
        initialResourceVersions: new Map(),
      }),
    )
  })

  test.each([
    ['a string that is longer than the message', [0x22, 0x05, 0x61]],
    ['a tag that does not end', [0xff]],
    ['a length that does not end', [0x22, 0xff]],
    ['a tag of zero before a good field', [0x00, 0x22, 0x01, 0x61]],
    ['the end of a group that never began', [0x0c, 0x22, 0x01, 0x61]],
    ['a wire type that there is not', [0x0f]],
  ])('with %s is refused', (_, bytes) => {
    expect(E.isLeft(decodeRequest('sotw', Uint8Array.from(bytes)))).toBe(true)
    expect(E.isLeft(decodeRequest('delta', Uint8Array.from(bytes)))).toBe(true)
  })

  test.prop([fc.constantFrom<Variant>('sotw', 'delta'), fc.uint8Array({ maxLength: 64 })], {
    numRuns: 1_000,
  })('of any bytes is read or refused, and never throws', (variant, bytes) => {
    expect(['Left', 'Right']).toContain(decodeRequest(variant, bytes)._tag)
  })
})

/** Resources are told apart by reference, so that equal names with other content are common. */
const resources: ReadonlyArray<Resource> = [
  bytesResource('a', Uint8Array.of(0x0a, 0x01, 0x61)),
  bytesResource('a', new Uint8Array()),
  bytesResource('b', new Uint8Array(300).fill(7)),
  tableResource('t', { head: Uint8Array.of(0x0a, 0x01, 0x74), virtualHosts: [] }),
]

const responses: fc.Arbitrary<readonly [Variant, Response]> = fc
  .tuple(
    fc.constantFrom<Variant>('sotw', 'delta'),
    fc.constantFrom(...typeUrls),
    fc.stringMatching(/^[0-9]{0,3}$/),
    fc.constantFrom('v1', 'v2', ''),
    fc.subarray([...resources]),
    fc.subarray(['x', 'y', 'ü'.repeat(100)]),
  )
  .map(([variant, typeUrl, nonce, version, chosen, gone]) => [
    variant,
    { typeUrl, nonce, version, resources: chosen, removed: variant === 'sotw' ? [] : gone },
  ])

const contentOf = ({ content }: Resource): Uint8Array =>
  content._tag === 'Bytes' ? content.bytes : content.table.head

const expected = (variant: Variant, { resources: sent, ...response }: Response): object => {
  const anys = sent.map((resource) => ({ typeUrl: response.typeUrl, value: contentOf(resource) }))
  if (variant === 'sotw')
    return { versionInfo: response.version, resources: anys, ...identityOf(response) }
  return {
    systemVersionInfo: response.version,
    resources: sent.map(({ name, version }, at) => ({ name, version, resource: anys[at] })),
    removedResources: response.removed,
    ...identityOf(response),
  }
}

const identityOf = ({ typeUrl, nonce }: Omit<Response, 'resources'>): object => ({ typeUrl, nonce })

/** Copied, since a Buffer decodes to Buffers, and these equal no Uint8Array. */
const decoded = (variant: Variant, bytes: Buffer): object =>
  variant === 'sotw'
    ? DiscoveryResponse.decode(Uint8Array.from(bytes))
    : DeltaDiscoveryResponse.decode(Uint8Array.from(bytes))

const discovery = (variant: Variant): string =>
  `envoy.service.discovery.v3.${variant === 'sotw' ? '' : 'Delta'}DiscoveryResponse`

describe('a response', () => {
  test.prop([fc.array(responses, { minLength: 1, maxLength: 8 })], { numRuns: 1_000 })(
    'decodes to what it was made of, whatever was encoded before',
    (sequence) => {
      const encode = responseEncoder()
      for (const [variant, response] of sequence)
        expect(decoded(variant, encode(variant, response))).toMatchObject(
          expected(variant, response),
        )
    },
  )

  test.prop([responses], { numRuns: 1_000 })(
    'has no field that the protocol does not know',
    ([variant, response]) => {
      const bytes = responseEncoder()(variant, { ...response, resources: [] })
      expect(unknownFieldsOf(discovery(variant), bytes)).toEqual([])
    },
  )

  test('keeps the order of resources, large ones between small ones', () => {
    const sizes = [1, largePieceBytes, 2, 3, largePieceBytes + 1, largePieceBytes - 1]
    const all = sizes.map((size, index) =>
      bytesResource(`r${index}`, new Uint8Array(size).fill(index)),
    )
    for (const sent of [all, [...all].reverse()]) {
      const bytes = responseEncoder()('sotw', aResponse({ resources: sent }))
      const values = DiscoveryResponse.decode(bytes).resources?.map(({ value }) => value) ?? []
      const hex = (each: Uint8Array | undefined): string => Buffer.from(each ?? []).toString('hex')
      expect(values.map(hex)).toEqual(sent.map((each) => hex(contentOf(each))))
    }
  })

  test('shares its encoded resources with every other that holds them', () => {
    let reads = 0
    const content = {
      _tag: 'Bytes' as const,
      get bytes(): Uint8Array {
        reads += 1
        return Uint8Array.of(0x0a, 0x01, 0x61)
      },
    }
    const resource: Resource = { name: 'a', version: 'v', content, refs: [], owners: [] }
    const encode = responseEncoder()
    for (const version of ['1', '2', '3'])
      for (const variant of ['sotw', 'delta'] as const)
        encode(variant, aResponse({ version, resources: [resource] }))
    expect(reads).toBe(1)
  })

  test('shares its body with the next of the same, until enough others came between', () => {
    const bytes = Uint8Array.of(0x0a, 0x01, 0x61)
    const same = [bytesResource('a', bytes)]
    const encode = responseEncoder()
    const held = (): ReadonlyArray<number> => {
      // Another array of the same resources, as another session makes it.
      const response = encode('sotw', aResponse({ resources: [...same] }))
      return [...(DiscoveryResponse.decode(response).resources?.[0]?.value ?? [])]
    }
    const encodeOthers = (count: number): void => {
      for (let other = 0; other < count; other++)
        encode('sotw', aResponse({ version: `other ${other}`, resources: [] }))
    }
    const first = held()
    bytes[2] = 0x62 // shows in a body only if it is made anew
    encodeOthers(keptBodies - 1)
    expect(held()).toEqual(first)
    encodeOthers(keptBodies)
    expect(held()).not.toEqual(first)
  })
})

const aResponse = (parts: Partial<Response>): Response => ({
  typeUrl: clusterType,
  nonce: 'n',
  version: 'v',
  resources: [],
  removed: [],
  ...parts,
})
