import { type Either, map } from 'fp-ts/lib/Either.js'
import { decodeValue, type Errors } from '../codec/decode.js'
import { literals, port } from '../codec/leaves.js'
import { list, record } from '../codec/record.js'
import type { IpFamily, Service } from '../context.js'
import {
  anyText,
  isTcp,
  keyOf,
  kindFields,
  objectName,
  objectNamespace,
  type ObjectKind,
} from './object.js'

export const serviceKind: ObjectKind = { apiVersion: 'v1', kind: 'Service' }

/** As many as a slice may have: Kubernetes has no bound for a Service but the size of an object. */
const maxPorts = 20_000

/** There are two; an API server has never had more in a list. */
const maxFamilies = 2

const servicePort = record(
  'an object with port and name',
  { port },
  { name: anyText, protocol: anyText },
)

const serviceCodec = record(
  'an object of kind Service',
  {
    metadata: record(
      'an object with name and namespace',
      { name: objectName },
      { namespace: objectNamespace },
    ),
  },
  {
    ...kindFields(serviceKind),
    spec: record(
      'an object with ports',
      {},
      {
        ports: list(servicePort, { min: 0, max: maxPorts, of: 'ports' }),
        ipFamilies: list(literals<IpFamily>('IPv4', 'IPv6'), {
          min: 0,
          max: maxFamilies,
          of: 'families',
        }),
      },
    ),
  },
)

/** Decodes an object of kind Service (v1). Its namespace is `default` if absent. */
export const decodeService = (json: unknown): Either<Errors, Service> =>
  map(({ metadata, spec }: typeof serviceCodec._A): Service => {
    const { ports = [], ipFamilies = [] } = spec ?? {}
    return {
      ...keyOf(metadata),
      ports: ports.filter(isTcp).map(({ name = '', port: number }) => ({ name, port: number })),
      ...(ipFamilies.length > 0 && { ipFamilies }),
    }
  })(decodeValue(json, serviceCodec))
