import { type Either, map } from 'fp-ts/lib/Either.js'
import { decodeValue, type Errors } from '../codec/decode.js'
import { literals, port } from '../codec/leaves.js'
import { list, record } from '../codec/record.js'
import type { Endpoint, EndpointSlice, ServicePort } from '../context.js'
import {
  anyText,
  isTcp,
  keyOf,
  kindFields,
  objectName,
  objectNamespace,
  type ObjectKind,
  truth,
} from './object.js'

export const endpointSliceKind: ObjectKind = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
}

/** The label of a slice that names its Service. */
const serviceLabel = 'kubernetes.io/service-name'

/** Kubernetes' own bounds of a slice. */
const maxEndpoints = 1_000
const maxAddresses = 100
const maxPorts = 20_000
const maxZoneHints = 8

const endpoint = record(
  'an object with addresses and conditions',
  { addresses: list(anyText, { min: 1, max: maxAddresses, of: 'addresses' }) },
  {
    conditions: record(
      'an object with ready, serving and terminating',
      {},
      { ready: truth, serving: truth, terminating: truth },
    ),
    zone: anyText,
    hints: record(
      'an object with forZones',
      {},
      {
        forZones: list(record('an object with name', { name: anyText }, {}), {
          min: 0,
          max: maxZoneHints,
          of: 'zones',
        }),
      },
    ),
  },
)

const slicePort = record(
  'an object with port and name',
  {},
  { name: anyText, port, protocol: anyText },
)

const sliceCodec = record(
  'an object of kind EndpointSlice',
  {
    metadata: record(
      'an object with name, namespace and labels',
      {
        name: objectName,
        labels: record('an object of labels', { [serviceLabel]: objectName }, {}),
      },
      { namespace: objectNamespace },
    ),
    addressType: literals<'IPv4' | 'IPv6' | 'FQDN'>('IPv4', 'IPv6', 'FQDN'),
  },
  {
    ...kindFields(endpointSliceKind),
    endpoints: list(endpoint, { min: 0, max: maxEndpoints, of: 'endpoints' }),
    ports: list(slicePort, { min: 0, max: maxPorts, of: 'ports' }),
  },
)

/**
 * Decodes an object of kind EndpointSlice (discovery.k8s.io/v1). Its namespace is `default` if absent.
 *
 * A condition that is absent means what Kubernetes says: `ready` is true, `serving` is as `ready`, and
 * `terminating` is false. The zone is the first that the endpoint is hinted to, or else its own. A port without
 * a number (every port, to Kubernetes) leads nowhere.
 */
export const decodeEndpointSlice = (json: unknown): Either<Errors, EndpointSlice> =>
  map(
    ({
      metadata,
      addressType,
      endpoints = [],
      ports = [],
    }: typeof sliceCodec._A): EndpointSlice => ({
      ...keyOf(metadata),
      service: metadata.labels[serviceLabel],
      addressType,
      ports: ports
        .filter(isTcp)
        .flatMap(({ name = '', port: number }): ReadonlyArray<ServicePort> =>
          number === undefined ? [] : [{ name, port: number }],
        ),
      endpoints: endpoints.map(endpointOf),
    }),
  )(decodeValue(json, sliceCodec))

/** What says nothing is left out: a cluster has many of them. */
const endpointOf = ({ addresses, conditions, zone, hints }: typeof endpoint._A): Endpoint => {
  const { ready = true, serving = ready, terminating = false } = conditions ?? {}
  const place = hints?.forZones?.[0]?.name ?? zone ?? ''
  return {
    addresses,
    ready,
    ...(serving !== ready && { serving }),
    ...(terminating && { terminating }),
    ...(place !== '' && { zone: place }),
  }
}
