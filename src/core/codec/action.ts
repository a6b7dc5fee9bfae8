import type {
  Backend,
  HeaderChanges,
  Headers,
  Redirect,
  Respond,
  Retries,
  Rewrite,
  Timeouts,
} from '../edge-route.js'
import { checkAddress, checkDnsLabel, checkHostAndPort, checkUrlHost } from './check/names.js'
import { checkPath } from './check/path.js'
import { checkBody, checkChangedHeader, checkHeaderValue } from './check/values.js'
import {
  duration,
  integer,
  literals,
  port,
  knownRetryConditions,
  retryCondition,
  servicePort,
  text,
} from './leaves.js'
import { exactly } from './exactly.js'
import { maxAttempts, maxBackends, maxHeaderChanges, maxWeight } from './limits.js'
import { type Codec, type Issue, list, record, where } from './record.js'
import { atLeastOne, exactlyOne, lowerCase, unique } from './rules.js'

const service = record(
  'an object with name and port',
  { name: text(checkDnsLabel), port: servicePort },
  {},
)

const address = record('an object with host and port', { host: text(checkAddress), port }, {})

const backend = record(
  'an object with service or address, and weight',
  {},
  { service, address, weight: integer(0, maxWeight) },
  [exactlyOne('service', 'address')],
)

export const backends: Codec<ReadonlyArray<Backend>> = where(
  list(exactly<Backend>()(backend), { min: 1, max: maxBackends, of: 'backends' }),
  (all) =>
    all.every(({ weight = 1 }) => weight === 0)
      ? [{ message: 'has only weights of 0: one of them must get requests' }]
      : [],
)

export const redirect: Codec<Redirect> = exactly<Redirect>()(
  record(
    'an object with scheme, host, path and code',
    {},
    {
      scheme: literals<'http' | 'https'>('http', 'https'),
      host: text(checkUrlHost),
      path: text(checkPath),
      code: literals<301 | 302 | 303 | 307 | 308>(301, 302, 303, 307, 308),
    },
    [atLeastOne('scheme', 'host', 'path')],
  ),
)

/** RFC 9110: a response with one of these ends after its headers; Envoy would send the body all the same. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

const response = record(
  'an object with code and body',
  { code: integer(200, 599) },
  { body: text(checkBody) },
)

export const respond: Codec<Respond> = where(exactly<Respond>()(response), ({ code, body = '' }) =>
  withoutBody.has(code) && body !== ''
    ? [{ keys: ['body'], message: `must be left out: a response ${code} has no body` }]
    : [],
)

export const timeouts: Codec<Timeouts> = exactly<Timeouts>()(
  record('an object with request', {}, { request: duration }),
)

const retryConditions = where(
  list(retryCondition, { min: 1, max: knownRetryConditions.length, of: 'conditions' }),
  unique('condition', (condition) => condition),
)

export const retries: Codec<Retries> = exactly<Retries>()(
  record(
    'an object with attempts and on',
    { attempts: integer(1, maxAttempts) },
    { on: retryConditions },
  ),
)

export const rewrite: Codec<Rewrite> = exactly<Rewrite>()(
  record(
    'an object with prefix and host',
    {},
    { prefix: text(checkPath), host: text(checkHostAndPort) },
    [atLeastOne('prefix', 'host')],
  ),
)

const size = { min: 0, max: maxHeaderChanges, of: 'headers' } as const

const headerName = text(checkChangedHeader)

const headerValues = where(
  list(
    record(
      'an object with name and value',
      { name: headerName, value: text(checkHeaderValue) },
      {},
    ),
    size,
  ),
  unique('header', ({ name }) => lowerCase(name), ['name']),
)

const headerChanges = record(
  'an object with set, add and remove',
  {},
  {
    set: headerValues,
    add: headerValues,
    remove: where(list(headerName, size), unique('header', lowerCase)),
  },
)

const setAndRemoved = ({ set = [], remove = [] }: HeaderChanges): ReadonlyArray<Issue> => {
  const names = new Set(set.map(({ name }) => lowerCase(name)))
  return [...remove.entries()]
    .filter(([, name]) => names.has(lowerCase(name)))
    .map(([index]) => ({ keys: ['remove', index], message: 'is in set as well: keep one' }))
}

const changes = where(exactly<HeaderChanges>()(headerChanges), setAndRemoved)

export const headers: Codec<Headers> = exactly<Headers>()(
  record('an object with request and response', {}, { request: changes, response: changes }),
)
