import fc from 'fast-check'
import type {
  Backend,
  HeaderChanges,
  Headers,
  Redirect,
  Respond,
  Retries,
  Rewrite,
  Timeouts,
} from '../../core/edge-route.js'
import { allOptional, plain } from './plain.js'

const service = fc.record(
  { name: fc.constantFrom('one', 'two'), port: fc.constantFrom<string | number>(80, 8080, 'http') },
  plain,
)

const address = fc.record(
  {
    host: fc.constantFrom('10.0.0.1', '10.0.0.2', '::1', '0:0::0:1', 'one.test', 'One.test'),
    port: fc.constantFrom(80, 8080),
  },
  plain,
)

const weight = fc.constantFrom(0, 1, 3, 90)

const backend: fc.Arbitrary<Backend> = fc
  .tuple(
    fc.oneof(fc.record({ service }, plain), fc.record({ address }, plain)),
    fc.record({ weight }, allOptional),
  )
  .map(([target, share]) => ({ ...target, ...share }))

export const backends: fc.Arbitrary<ReadonlyArray<Backend>> = fc
  .array(backend, { minLength: 1, maxLength: 3 })
  .map((all) => (all.every((one) => one.weight === 0) ? [{ ...all[0], weight: 1 }] : all))

export const timeouts: fc.Arbitrary<Timeouts> = fc.record(
  { request: fc.constantFrom('0s', '250ms', '1m30s', '1.5s', '90s') },
  allOptional,
)

export const retries: fc.Arbitrary<Retries> = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 3 }),
    on: fc.uniqueArray(fc.constantFrom('5xx', 'connect-failure', 'reset', 'unavailable'), {
      minLength: 1,
      maxLength: 3,
    }),
  },
  { noNullPrototype: true, requiredKeys: ['attempts'] },
)

export const rewrite: fc.Arbitrary<Rewrite> = fc.oneof(
  fc.record({ prefix: fc.constantFrom('/', '/a', '/new/') }, plain),
  fc.record({ host: fc.constantFrom('in.test', 'in.test:8080') }, plain),
  fc.record({ prefix: fc.constant('/a'), host: fc.constant('in.test') }, plain),
)

export const redirect: fc.Arbitrary<Redirect> = fc
  .record(
    {
      scheme: fc.constantFrom<'http' | 'https'>('http', 'https'),
      host: fc.constantFrom('a.test', 'www.test'),
      path: fc.constantFrom('/', '/new'),
      code: fc.constantFrom<301 | 302 | 303 | 307 | 308>(301, 302, 303, 307, 308),
    },
    allOptional,
  )
  .map((one) =>
    one.scheme === undefined && one.host === undefined && one.path === undefined
      ? { ...one, path: '/new' }
      : one,
  )

export const respond: fc.Arbitrary<Respond> = fc.record(
  { code: fc.constantFrom(200, 410, 503), body: fc.constantFrom('', 'gone', 'naïve ☕') },
  { noNullPrototype: true, requiredKeys: ['code'] },
)

const headerValues = fc.uniqueArray(
  fc.record(
    { name: fc.constantFrom('x-a', 'X-A', 'x-b'), value: fc.constantFrom('1', '', '50%', 'a\tb') },
    plain,
  ),
  { maxLength: 2, selector: ({ name }) => name.toLowerCase() },
)

const headerChanges: fc.Arbitrary<HeaderChanges> = fc.record(
  {
    set: headerValues,
    add: headerValues,
    remove: fc.uniqueArray(fc.constantFrom('x-c', 'X-D', 'server'), { maxLength: 2 }),
  },
  allOptional,
)

export const headers: fc.Arbitrary<Headers> = fc.record(
  { request: headerChanges, response: headerChanges },
  allOptional,
)
