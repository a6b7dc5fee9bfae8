import { Ajv } from 'ajv'
import { RE2JS } from 're2js'
import type { Schema } from '../../../src/core/crd.js'

/** What a schema refuses in a value. */
export interface Complaint {
  /** The place in the schema, as in `spec.hostnames[]`. */
  readonly place: string
  /** The keyword, or the message of the rule. */
  readonly what: string
}

/** A value as it is stored, without unknown fields and with defaults, and what is wrong with it. */
export interface Structured {
  readonly value: unknown
  readonly complaints: ReadonlyArray<Complaint>
}

/**
 * Makes a judge of structural schemas, as an API server is one, without their CEL rules. Regexes are RE2's. It throws
 * at a keyword that it does not know. The formats are not judged: there are none in a spec.
 */
export const structureOf = (schema: Schema): ((value: unknown) => Structured) => {
  const ajv = new Ajv({
    allErrors: true,
    removeAdditional: 'all',
    useDefaults: true,
    strictTypes: false,
    validateFormats: false,
    code: { regExp },
  })
  ajv.addKeyword({
    keyword: 'x-kubernetes-int-or-string',
    macro: () => ({ type: ['integer', 'string'] }),
  })
  ajv.addKeyword({
    keyword: 'x-kubernetes-list-type',
    type: 'array',
    validate: (kind: unknown, items: ReadonlyArray<unknown>, list?: object) =>
      kind === 'atomic' || isDistinct(items.map((item) => keyOf(item, list))),
  })
  ajv.addVocabulary(['x-kubernetes-list-map-keys', 'x-kubernetes-validations'])
  const validate = ajv.compile(schema)
  return (given) => {
    const value: unknown = structuredClone(given)
    validate(value)
    const errors = validate.errors ?? []
    return {
      value,
      complaints: errors.map(({ schemaPath }) => complaintAt(schemaPath)),
    }
  }
}

const regExp = Object.assign((pattern: string) => RE2JS.compile(pattern), {
  code: 'RE2',
})

/** What tells an item from others: those of its fields that are keys, or all of it. */
const keyOf = (item: unknown, { 'x-kubernetes-list-map-keys': keys }: Schema = {}): string =>
  JSON.stringify(
    keys === undefined ? item : keys.map((key): unknown => Reflect.get(Object(item), key)),
  )

const isDistinct = (keys: ReadonlyArray<string>): boolean => new Set(keys).size === keys.length

/** `#/properties/spec/properties/hostnames/items/maxLength` is `maxLength` at `spec.hostnames[]`. */
const complaintAt = (schemaPath: string): Complaint => {
  const [, ...steps] = schemaPath.replace('/x-kubernetes-int-or-string/type', '/type').split('/')
  const what = steps.pop() ?? ''
  const place = steps
    .join('/')
    .replaceAll('/items', '[]')
    .replaceAll(/\/?properties\//g, '.')
  return { place: place.replace(/^\./, ''), what }
}
