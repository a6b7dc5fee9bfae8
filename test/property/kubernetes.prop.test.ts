import { fc, test } from '@fast-check/vitest'
import { decodeEndpointSlice, decodeService } from 'edgewright'
import * as E from 'fp-ts/lib/Either.js'
import { expect } from 'vitest'
import type { Endpoint, EndpointSlice, Service } from '../../src/core/context.js'
import { routingContext } from '../../src/testing/arbitraries/context.js'

const runs = { numRuns: 1_000 }

/** As an API server would have them: what is absent here is absent or null there, in any mixture. */
const nothing = fc.constantFrom(undefined, null)

const portsOf = (ports: Service['ports']) =>
  ports.map(({ name, port }) => ({ port, protocol: 'TCP', ...(name !== '' && { name }) }))

const serviceJson = ({ namespace, name, ports, ipFamilies }: Service, absent: unknown) => ({
  metadata: { namespace, name, uid: '0a' },
  spec: {
    ports: [...portsOf(ports), { port: 53, protocol: 'UDP' }],
    ipFamilies: ipFamilies ?? absent,
  },
})

const endpointJson = (
  { addresses, ready, serving, terminating, zone }: Endpoint,
  absent: unknown,
) => ({
  addresses,
  conditions: { ready, serving: serving ?? absent, terminating: terminating ?? absent },
  hints: zone === undefined ? absent : { forZones: [{ name: zone }] },
  zone: zone === undefined ? absent : 'its-own',
})

const sliceJson = (slice: EndpointSlice, absent: unknown) => ({
  metadata: {
    namespace: slice.namespace,
    name: slice.name,
    labels: { 'kubernetes.io/service-name': slice.service, app: 'x' },
  },
  addressType: slice.addressType ?? 'IPv4',
  endpoints: slice.endpoints.map((endpoint) => endpointJson(endpoint, absent)),
  ports: [...portsOf(slice.ports), { name: 'every', port: absent }],
})

/** What says nothing, by itself or beside the rest, is left out. */
const meaning = ({ addresses, ready, serving = ready, terminating = false, zone }: Endpoint) => ({
  addresses,
  ready,
  ...(serving !== ready && { serving }),
  ...(terminating && { terminating }),
  ...(zone !== undefined && { zone }),
})

test.prop([routingContext, nothing], runs)(
  'what an API server has of Services and slices is read as it was meant',
  ({ services, endpointSlices }, absent) => {
    for (const { ipFamilies = [], ...service } of services)
      expect(decodeService(serviceJson({ ...service, ipFamilies }, absent))).toStrictEqual(
        E.right({ ...service, ...(ipFamilies.length > 0 && { ipFamilies }) }),
      )
    for (const slice of endpointSlices)
      expect(decodeEndpointSlice(sliceJson(slice, absent))).toStrictEqual(
        E.right({
          ...slice,
          addressType: slice.addressType ?? 'IPv4',
          endpoints: slice.endpoints.map(meaning),
        }),
      )
  },
)

const junk = fc.anything({ maxDepth: 3, withNullPrototype: true, withBigInt: true, withDate: true })

/** A right one in which something is replaced by anything. */
const spoilt = fc
  .tuple(routingContext, junk, fc.nat(), fc.boolean())
  .map(([{ services, endpointSlices }, value, at, isService]) => {
    const whole: unknown = isService
      ? services.map((one) => serviceJson(one, null))[0]
      : endpointSlices.map((one) => sliceJson(one, null))[0]
    let seen = 0
    const replace = (part: unknown): unknown => {
      seen += 1
      if (seen === (at % 40) + 1) return value
      if (Array.isArray(part)) return part.map(replace)
      return typeof part === 'object' && part !== null
        ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, replace(inner)]))
        : part
    }
    return replace(whole)
  })

test.prop([fc.oneof(junk, spoilt)], runs)(
  'anything else is refused with a place and a reason, or says the same when what is read of it is written anew',
  (json) => {
    for (const decode of [decodeService, decodeEndpointSlice] as const) {
      const decoded = decode(json)
      if (E.isLeft(decoded)) {
        expect(decoded.left.length).toBeGreaterThan(0)
        for (const { message } of decoded.left) expect(message).not.toBe('')
      }
    }
    const service = decodeService(json)
    if (E.isRight(service))
      expect(decodeService(serviceJson(service.right, undefined))).toStrictEqual(service)
    const slice = decodeEndpointSlice(json)
    if (E.isRight(slice))
      expect(decodeEndpointSlice(sliceJson(slice.right, null))).toStrictEqual(slice)
  },
)
