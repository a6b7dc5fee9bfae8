import { decodeEndpointSlice, decodeService } from 'edgewright'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { showFieldError } from '../../src/core/field-error.js'

/** As an API server sends it, with much that routing does not need. */
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: '0a',
    resourceVersion: '7',
    managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }],
  },
  spec: {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7', 'fd00::7'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
    selector: { app: 'web' },
    ports: [
      { name: 'http', port: 80, protocol: 'TCP', targetPort: 'http', appProtocol: 'http' },
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
      { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
    ],
    type: 'ClusterIP',
  },
  status: { loadBalancer: {} },
}

const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'web-abc12',
    namespace: 'shop',
    labels: { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'x' },
  },
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.77.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'n1',
      targetRef: { kind: 'Pod', name: 'web-1' },
      zone: 'a',
      hints: { forZones: [{ name: 'b' }, { name: 'c' }] },
    },
    {
      addresses: ['10.77.0.2'],
      conditions: { ready: false, serving: true, terminating: true },
      zone: 'a',
    },
  ],
  ports: [
    { name: 'http', port: 8080, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
}

const right = <A>(decoded: E.Either<unknown, A>): A => {
  if (E.isLeft(decoded)) throw new Error(JSON.stringify(decoded.left))
  return decoded.right
}

const left = (decoded: ReturnType<typeof decodeService | typeof decodeEndpointSlice>) =>
  E.isLeft(decoded) ? decoded.left.map(showFieldError) : []

describe('a Service', () => {
  test('keeps its TCP ports and its families, and nothing else', () => {
    expect(right(decodeService(service))).toStrictEqual({
      namespace: 'shop',
      name: 'web',
      ports: [
        { name: 'http', port: 80 },
        { name: 'dns-tcp', port: 53 },
      ],
      ipFamilies: ['IPv4', 'IPv6'],
    })
  })

  test('may lack what has a default, or have null in its place', () => {
    const bare = { namespace: 'default', name: 'web', ports: [] }
    expect(right(decodeService({ metadata: { name: 'web' } }))).toStrictEqual(bare)
    const empty = { metadata: { name: 'web', namespace: null }, spec: { ports: null } }
    expect(right(decodeService({ ...empty, kind: null, apiVersion: null }))).toStrictEqual(bare)
    const unnamed = { metadata: { name: 'web' }, spec: { ports: [{ port: 80, name: null }] } }
    expect(right(decodeService(unnamed)).ports).toStrictEqual([{ name: '', port: 80 }])
  })

  test('is told all that is wrong with it', () => {
    const wrong = {
      kind: 'Pod',
      metadata: { name: 'Web' },
      spec: { ports: [{ port: '80' }, { port: 0 }, {}], ipFamilies: ['IPv5'] },
    }
    expect(left(decodeService(wrong))).toStrictEqual([
      'kind: must be "Service", not "Pod"',
      'metadata.name: must be lower-case letters, digits, "-" and ".", not "Web"',
      'spec.ports[0].port: must be a number: write 80 without quotes',
      'spec.ports[1].port: must be a whole number from 1 to 65535, not 0',
      'spec.ports[2].port: is required',
      'spec.ipFamilies[0]: must be IPv4 or IPv6, not "IPv5"',
    ])
  })
})

describe('an EndpointSlice', () => {
  test('keeps what routing needs, and says only what is not the default', () => {
    expect(right(decodeEndpointSlice(slice))).toStrictEqual({
      namespace: 'shop',
      name: 'web-abc12',
      service: 'web',
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080 }],
      endpoints: [
        { addresses: ['10.77.0.1'], ready: true, zone: 'b' },
        { addresses: ['10.77.0.2'], ready: false, serving: true, terminating: true, zone: 'a' },
      ],
    })
  })

  test.each([
    [undefined, { ready: true }],
    [null, { ready: true }],
    [{}, { ready: true }],
    [{ ready: null }, { ready: true }],
    [{ ready: false }, { ready: false }],
    [{ ready: false, serving: null }, { ready: false }],
    [
      { ready: false, serving: true },
      { ready: false, serving: true },
    ],
    [{ serving: false }, { ready: true, serving: false }],
    [
      { ready: false, terminating: true },
      { ready: false, terminating: true },
    ],
  ])('conditions %j mean %j: absent is ready, and serving as ready', (conditions, means) => {
    const endpoints = [{ addresses: ['10.77.0.1'], conditions }]
    expect(right(decodeEndpointSlice({ ...slice, endpoints })).endpoints).toStrictEqual([
      { addresses: ['10.77.0.1'], ...means },
    ])
  })

  test('without ports or endpoints has none, and a port without a number leads nowhere', () => {
    const none = { ...slice, ports: null, endpoints: null }
    expect(right(decodeEndpointSlice(none))).toMatchObject({ ports: [], endpoints: [] })
    const ports = [{ name: 'all' }, { name: 'null', port: null }, { port: 80 }]
    expect(right(decodeEndpointSlice({ ...slice, ports })).ports).toStrictEqual([
      { name: '', port: 80 },
    ])
  })

  test('is told all that is wrong with it', () => {
    const wrong = {
      metadata: { name: 'x', labels: { app: 'web' } },
      addressType: 'ipv4',
      endpoints: [{ addresses: [] }, { addresses: [7] }, { conditions: { ready: 'true' } }],
      ports: {},
    }
    expect(left(decodeEndpointSlice(wrong))).toStrictEqual([
      'metadata.labels["kubernetes.io/service-name"]: is required',
      'addressType: must be IPv4, IPv6 or FQDN, not "ipv4"',
      'endpoints[0].addresses: must not be empty: name one, or leave the field out',
      'endpoints[1].addresses[0]: must be a string: write "7" in quotes',
      'endpoints[2].conditions.ready: must be true or false, not "true"',
      'endpoints[2].addresses: is required',
      'ports: must be a list, not an object',
    ])
  })
})

test.each([decodeService, decodeEndpointSlice])('%o never throws', (decode) => {
  const trap = {
    get metadata() {
      throw new Error('trap')
    },
  }
  for (const value of [undefined, null, 7, 'x', [], [[]], {}, { metadata: [] }, trap])
    expect(E.isLeft(decode(value))).toBe(true)
})
