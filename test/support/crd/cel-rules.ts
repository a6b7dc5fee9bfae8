import {
  celEnv,
  celFunc,
  type CelInput,
  celMethod,
  CelScalar,
  isCelError,
  listType,
  parse,
  plan,
  run,
} from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { RE2JS } from 're2js'
import type { Rule, Schema } from '../../../src/core/crd.js'
import type { Complaint } from './structure.js'

/** Says what a schema's CEL rules refuse in a value; `old` is what it was before an update, if it is one. */
export type CelRules = (value: unknown, old?: unknown) => ReadonlyArray<Complaint>

/**
 * Makes a judge of the CEL rules of a schema, all of them compiled once. As in an API server, a rule that fails is one
 * that does not hold, and one that speaks of `oldSelf` is asked on an update only. The value must fit the schema's
 * structure. Costs of rules are not judged.
 */
export const celRulesOf = (schema: Schema): CelRules => rulesAt(schema, '')

const rulesAt = (schema: Schema, place: string): CelRules => {
  const rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => compiled(rule, place))
  const within = [...fieldRules(schema, place), itemRules(schema, place)]
  return (value, old) =>
    value === undefined ? [] : [...rules, ...within].flatMap((judge) => judge(value, old))
}

const fieldRules = ({ properties = {} }: Schema, place: string): ReadonlyArray<CelRules> =>
  Object.entries(properties).map(([name, field]) => {
    const judge = rulesAt(field, place === '' ? name : `${place}.${name}`)
    return (value, old) => judge(fieldOf(value, name), fieldOf(old, name))
  })

/** Which item was which before an update is not looked for: an item is judged as if it were new. */
const itemRules = ({ items }: Schema, place: string): CelRules => {
  if (items === undefined) return () => []
  const judge = rulesAt(items, `${place}[]`)
  return (value) => (Array.isArray(value) ? value.flatMap((item) => judge(item)) : [])
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

const compiled = ({ rule, message }: Rule, place: string): CelRules => {
  const evaluate = plan(environment, parse(rule))
  const isTransition = rule.includes('oldSelf')
  if (isTransition && place.includes('[]')) throw new Error(`items have no past here: ${rule}`)
  return (value, old) => {
    if (isTransition && old === undefined) return []
    const holds = evaluate({
      self: toCel(value),
      ...(isTransition && { oldSelf: toCel(old) }),
    })
    return holds === true ? [] : [{ place, what: message }]
  }
}

/** All numbers of a spec are whole; CEL tells them from others by their type. */
const toCel = (value: unknown): CelInput => {
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(toCel)
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([name, field]) => [name, toCel(field)]))
  throw new Error(`no JSON without null: ${String(value)}`)
}

const regexes = new Map<string, RE2JS>()

/** Each pattern is compiled once: that costs a hundred times what a search does. */
const regex = (pattern: string): RE2JS => {
  const known = regexes.get(pattern) ?? RE2JS.compile(pattern)
  regexes.set(pattern, known)
  return known
}

/** `sum` is one of the functions that Kubernetes adds to CEL. */
const sum = celMethod('sum', listType(CelScalar.INT), [], CelScalar.INT, function () {
  return [...this].reduce<bigint>((total, item) => total + BigInt(Number(item)), 0n)
})

/** Go reads both characters for micro, U+00B5 and U+03BC; the library the first alone. */
const duration = celFunc('duration', [CelScalar.STRING], CelScalar.DYN, (text) => {
  const parsed = run('duration(text)', {
    text: text.replaceAll('\u03bc', '\u00b5'),
  })
  if (isCelError(parsed)) throw parsed
  return parsed
})

const environment = celEnv({
  funcs: [...strings, sum, duration],
  re2: { compile: regex },
})
