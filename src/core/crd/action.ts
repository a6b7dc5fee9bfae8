import { knownRetryConditions } from '../codec/leaves.js'
import { maxAttempts, maxBackends, maxHeaderChanges, maxWeight } from '../codec/limits.js'
import { distinctNames } from './match.js'
import { address, dnsLabel, hostAndPort, servicePort, urlHost } from './names.js'
import { choice, list, object, present, rule, type Schema, whole, withRules } from './schema.js'
import { body, changedHeader, duration, headerValue, path } from './values.js'

const service = object(
  'A Service in the namespace of the route.',
  { name: dnsLabel('The name of the Service.'), port: servicePort },
  ['name', 'port'],
)

const addressRef = object(
  'A host outside of Kubernetes; served only where the configuration of the data plane allows it.',
  { host: address, port: whole('The port of the host.', 1, 65_535) },
  ['host', 'port'],
)

const backend = withRules(
  object('Where requests go. Exactly one of service and address.', {
    service,
    address: addressRef,
    weight: whole('Its share of the sum of all weights; 1 if absent.', 0, maxWeight),
  }),
  rule(
    present('exists_one', ['service', 'address']),
    'must have exactly one of service and address',
  ),
)

export const backends: Schema = withRules(
  list('Where requests go, by weight.', backend, 1, maxBackends, 'atomic'),
  rule(
    'self.exists(backend, !has(backend.weight) || backend.weight > 0)',
    'must not have only weights of 0: one of them must get requests',
  ),
)

export const redirect: Schema = withRules(
  object('Sends clients elsewhere; what it does not name stays as it was asked for.', {
    scheme: choice('The scheme to send clients to.', ['http', 'https']),
    host: urlHost,
    path: path('The path to send clients to, in place of the whole path.'),
    code: {
      description: 'The status of the response.',
      type: 'integer',
      enum: [301, 302, 303, 307, 308],
      default: 301,
    },
  }),
  rule(present('exists', ['scheme', 'host', 'path']), 'must have scheme, host or path'),
)

export const respond: Schema = withRules(
  object(
    'Answers requests with a fixed response.',
    { code: whole('The status of the response.', 200, 599), body },
    ['code'],
  ),
  rule(
    '!(self.code in [204, 205, 304]) || !has(self.body) || self.body == ""',
    'must have no body: a response 204, 205 or 304 has none',
  ),
)

export const timeouts: Schema = object('How long things may take.', {
  request: duration(
    'From the end of the request to the end of the answer, as in `15s`, `250ms` or `1m30s`; ' +
      '15s if absent, 0s for no limit.',
  ),
})

export const retries: Schema = object(
  'Sends a request again when it has failed.',
  {
    attempts: whole('How many more times a request may be sent.', 1, maxAttempts),
    on: list(
      'When to send it again; when no application can have seen it if absent.',
      choice("One of Envoy's retry conditions.", knownRetryConditions),
      1,
      knownRetryConditions.length,
      'set',
    ),
  },
  ['attempts'],
)

export const rewrite: Schema = withRules(
  object('Changes a request on its way to the backend.', {
    prefix: path(
      'Stands in place of the matched prefix, or of the whole path where the match is exact.',
    ),
    host: hostAndPort,
  }),
  rule(present('exists', ['prefix', 'host']), 'must have prefix or host'),
)

const headerValues = (description: string): Schema =>
  withRules(
    list(
      description,
      object('A header.', { name: changedHeader, value: headerValue }, ['name', 'value']),
      0,
      maxHeaderChanges,
      { key: 'name' },
    ),
    rule(
      distinctNames((item) => `${item}.name`),
      namedTwice,
    ),
  )

const namedTwice = 'must not name a header twice, in whatever case'

const changes = (description: string): Schema =>
  withRules(
    object(description, {
      set: headerValues('Replaces these headers, or adds them.'),
      add: headerValues('Adds one more value to these headers.'),
      remove: withRules(
        list('Removes these headers.', changedHeader, 0, maxHeaderChanges, 'set'),
        rule(
          distinctNames((item) => item),
          namedTwice,
        ),
      ),
    }),
    rule(
      '!has(self.set) || !has(self.remove) || ' +
        'self.set.all(a, !self.remove.exists(b, b.lowerAscii() == a.name.lowerAscii()))',
      'must not set and remove one header',
    ),
  )

export const headers: Schema = object('Changes the headers of requests and responses.', {
  request: changes('Changes the headers of requests, before they reach a backend.'),
  response: changes('Changes the headers of responses, before they reach a client.'),
})
