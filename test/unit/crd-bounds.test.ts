import { describe, expect, test } from 'vitest'
import type { Schema } from '../../src/core/crd.js'
import { refusalsOf } from '../support/crd/agreement.js'
import { admitNew, objectSchema } from '../support/crd/offline-server.js'

type Json = Readonly<Record<string, unknown>>

const backends = [{ service: { name: 'one', port: 80 } }]
const forward = (fields: Json): Json => ({ backends, ...fields })
const match = (fields: Json): Json => forward({ matches: [fields] })
const backend = (fields: Json): Json => ({ backends: [fields] })
const changes = (fields: Json): Json => forward({ headers: { request: fields, response: fields } })

const text = (length: number): string => 'a'.repeat(length)
const path = (length: number): string => `/${text(length - 1)}`
const name = (length: number): string => `${`${text(49)}.`.repeat(9)}${text(9)}`.slice(-length)
const digits = (length: number): string => `${'0'.repeat(length - 1)}s`
const many = <A>(count: number, item: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => item(index))

/** Printable text in which RE2 needs few instructions. */
const regex = (length: number): string => `[${text(length - 2)}]`

/** A spec that has this much of it: as long a text, as many items, as large a number. */
type Maker = (size: number) => Json

/** In each place of the schema that has a bound. */
const makers: Readonly<Record<string, Maker>> = {
  'spec.dataPlane': (n) => forward({ dataPlane: text(n) }),
  'spec.hostnames': (n) => forward({ hostnames: many(n, (i) => `h${i}.test`) }),
  'spec.hostnames[]': (n) => forward({ hostnames: [`*.${name(n - 2)}`] }),
  'spec.matches': (n) => forward({ matches: many(n, (i) => ({ path: { exact: `/${i}` } })) }),
  'spec.matches[].path.prefix': (n) => match({ path: { prefix: path(n) } }),
  'spec.matches[].path.exact': (n) => match({ path: { exact: path(n) } }),
  'spec.matches[].path.regex': (n) => match({ path: { regex: `/${regex(n - 1)}` } }),
  'spec.matches[].methods': (n) => match({ methods: many(n, (i) => `M${i}`) }),
  'spec.matches[].methods[]': (n) => match({ methods: [text(n).toUpperCase()] }),
  'spec.matches[].headers': (n) =>
    match({ headers: many(n, (i) => ({ name: `h${i}`, exact: 'a' })) }),
  'spec.matches[].headers[].name': (n) => match({ headers: [{ name: text(n), exact: 'a' }] }),
  'spec.matches[].headers[].exact': (n) => match({ headers: [{ name: 'a', exact: text(n) }] }),
  'spec.matches[].headers[].prefix': (n) => match({ headers: [{ name: 'a', prefix: text(n) }] }),
  'spec.matches[].headers[].regex': (n) => match({ headers: [{ name: 'a', regex: regex(n) }] }),
  'spec.matches[].query': (n) => match({ query: many(n, (i) => ({ name: `q${i}`, exact: 'a' })) }),
  'spec.matches[].query[].name': (n) => match({ query: [{ name: text(n), exact: 'a' }] }),
  'spec.matches[].query[].exact': (n) => match({ query: [{ name: 'a', exact: text(n) }] }),
  'spec.matches[].query[].prefix': (n) => match({ query: [{ name: 'a', prefix: text(n) }] }),
  'spec.matches[].query[].regex': (n) => match({ query: [{ name: 'a', regex: regex(n) }] }),
  'spec.backends': (n) => ({ backends: many(n, () => backends[0]) }),
  'spec.backends[].service.name': (n) => backend({ service: { name: text(n), port: 80 } }),
  // Its two bounds are of texts and of numbers.
  'spec.backends[].service.port': (n) =>
    backend({
      service: { name: 'one', port: n === 15 || n === 16 ? text(n) : n },
    }),
  'spec.backends[].address.host': (n) => backend({ address: { host: name(n), port: 80 } }),
  'spec.backends[].address.port': (n) => backend({ address: { host: 'a.test', port: n } }),
  'spec.backends[].weight': (n) => ({
    backends: [...backends, { ...backends[0], weight: n }],
  }),
  'spec.redirect.host': (n) => ({ redirect: { host: name(n) } }),
  'spec.redirect.path': (n) => ({ redirect: { path: path(n) } }),
  'spec.respond.code': (n) => ({ respond: { code: n } }),
  'spec.respond.body': (n) => ({ respond: { code: 200, body: text(n) } }),
  'spec.timeouts.request': (n) => forward({ timeouts: { request: digits(n) } }),
  'spec.retries.attempts': (n) => forward({ retries: { attempts: n } }),
  'spec.rewrite.prefix': (n) => forward({ rewrite: { prefix: path(n) } }),
  'spec.rewrite.host': (n) => forward({ rewrite: { host: `${name(n - 6)}:65535` } }),
  ...Object.fromEntries(
    ['request', 'response'].flatMap((side) => [
      ...['set', 'add'].flatMap((verb): ReadonlyArray<readonly [string, Maker]> => {
        const place = `spec.headers.${side}.${verb}`
        const one = (header: Json): Json => forward({ headers: { [side]: { [verb]: [header] } } })
        return [
          [
            place,
            (n) =>
              changes({
                [verb]: many(n, (i) => ({ name: `h${i}`, value: 'a' })),
              }),
          ],
          [`${place}[].name`, (n) => one({ name: text(n), value: 'a' })],
          [`${place}[].value`, (n) => one({ name: 'a', value: text(n) })],
        ]
      }),
      [`spec.headers.${side}.remove`, (n: number) => changes({ remove: many(n, (i) => `h${i}`) })],
      [`spec.headers.${side}.remove[]`, (n: number) => changes({ remove: [text(n)] })],
    ]),
  ),
}

/** A place that has a bound, the last that is within it, and the first that is not. */
type Bound = readonly [place: string, keyword: string, within: number, beyond: number]

const boundsOf = (schema: Schema, place: string): ReadonlyArray<Bound> => [
  ...upper.flatMap((keyword): ReadonlyArray<Bound> => {
    const most = schema[keyword]
    return most === undefined ? [] : [[place, keyword, most, most + 1]]
  }),
  ...lower.flatMap((keyword): ReadonlyArray<Bound> => {
    const least = schema[keyword]
    return least === undefined ? [] : [[place, keyword, least, least - 1]]
  }),
  ...Object.entries(schema.properties ?? {}).flatMap(([field, value]) =>
    boundsOf(value, `${place}.${field}`),
  ),
  ...(schema.items === undefined ? [] : boundsOf(schema.items, `${place}[]`)),
]

const upper = ['maxLength', 'maximum', 'maxItems'] as const
/** Not `minLength`: it is 1 wherever it is, and empty texts are among what near-valid specs have. */
const lower = ['minimum', 'minItems'] as const

/** The bound is the number of values that there are: more of them have a double. */
const isOfAll = (place: string): boolean => place === 'spec.retries.on'

const bounds = boundsOf(objectSchema.properties?.['spec'] ?? {}, 'spec').filter(
  ([place]) => !isOfAll(place),
)

describe('both stop at the same bound', () => {
  test.each(bounds)('%s: %s %i', (place, keyword, within, beyond) => {
    const make = makers[place]
    if (make === undefined) throw new Error(`no spec has a ${place}`)
    expect(refusalsOf(make(within))).toEqual([])
    expect(admitNew(make(within)).complaints).toEqual([])
    expect(refusalsOf(make(beyond))).not.toEqual([])
    expect(admitNew(make(beyond)).complaints).toContainEqual({
      place,
      what: keyword,
    })
  })
})
