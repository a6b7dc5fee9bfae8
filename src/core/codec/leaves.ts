import { isRight } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { parseDuration } from '../duration.js'
import { checkPortName, isPort } from './check/names.js'
import { type Codec, leaf, where } from './record.js'
import { either, nearest, show } from './show.js'

/** Any value at all. */
export const anything: Codec<unknown> = leaf('anything', t.unknown.is)

const string = leaf('a string', t.string.is, (value) =>
  typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    ? `must be a string: write "${show(value)}" in quotes`
    : undefined,
)

/** A string, of which `check` says what is wrong with it. */
export const text = (check: (value: string) => string | undefined): Codec<string> =>
  where(string, (value) => {
    const message = check(value)
    return message === undefined ? [] : [{ message }]
  })

const numberHint = (value: unknown): string | undefined =>
  typeof value === 'string' && /^-?\d+$/.test(value)
    ? `must be a number: write ${value.slice(0, 20)} without quotes`
    : undefined

/** A whole number within bounds. */
export const integer = (min: number, max: number): Codec<number> => {
  const range = `a whole number from ${min} to ${max}`
  return where(
    leaf(range, (value) => typeof value === 'number', numberHint),
    (value) =>
      Number.isInteger(value) && value >= min && value <= max
        ? []
        : [{ message: `must be ${range}, not ${show(value)}` }],
  )
}

/** One of a few values. */
export const literals = <A extends string | number | boolean>(
  ...values: ReadonlyArray<A>
): Codec<A> => {
  const known: ReadonlySet<unknown> = new Set(values)
  return leaf(either(values.map(String)), (value): value is A => known.has(value))
}

export const port: Codec<number> = integer(1, 65_535)

/** The port of a Service, by number or by name. */
export const servicePort: Codec<number | string> = where(
  leaf(
    'a port, by number or by name',
    (value): value is number | string => typeof value === 'number' || typeof value === 'string',
  ),
  (value) => {
    const message =
      typeof value === 'string'
        ? checkPortName(value)
        : isPort(value)
          ? undefined
          : `must be a whole number from 1 to 65535, not ${show(value)}`
    return message === undefined ? [] : [{ message }]
  },
)

/** A Go duration, which an author may have written as a bare number. */
export const duration: Codec<string> = where(
  leaf(
    'a duration such as "15s"',
    (value): value is string => typeof value === 'string',
    (value) => (typeof value === 'number' ? `missing unit: write "${value}s"` : undefined),
  ),
  (value) => {
    const parsed = parseDuration(value)
    return isRight(parsed) ? [] : [{ message: parsed.left }]
  },
)

/**
 * Envoy's retry conditions, of `x-envoy-retry-on` and `x-envoy-retry-grpc-on`, save those that need a
 * list of codes or headers beside them.
 */
export const knownRetryConditions: ReadonlyArray<string> = [
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'envoy-ratelimited',
  'retriable-4xx',
  'refused-stream',
  'http3-post-connect-failure',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
]

export const retryCondition: Codec<string> = text((value) => {
  if (knownRetryConditions.includes(value)) return undefined
  const meant = nearest(value, knownRetryConditions)
  return meant === undefined
    ? `must be one of ${either(knownRetryConditions)}, not ${show(value)}`
    : `is not a retry condition of Envoy: did you mean ${show(meant)}?`
})
