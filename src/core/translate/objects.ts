import * as E from 'fp-ts/lib/Either.js'
import { propertyOf } from '../codec/decode.js'
import { compile } from '../compile.js'
import type { Context } from '../context.js'
import type { EdgeRoute, Metadata, RouteKey } from '../edge-route.js'
import type { FieldError } from '../field-error.js'
import { compareStrings } from '../order.js'
import type { Rule } from '../rule.js'
import type { Acceptance, Verdict } from '../verdict.js'
import { accepted } from './claims.js'
import { unresolvedRefs } from './clusters.js'
import type { Destinations } from './destinations.js'

/** One object of a routing language, as far as its language alone can judge it. */
export interface Compiled {
  readonly key: RouteKey
  readonly uid: string
  readonly generation: number
  readonly result:
    | { readonly _tag: 'Rules'; readonly rules: ReadonlyArray<Rule> }
    | { readonly _tag: 'Refused'; readonly acceptance: Acceptance }
}

/** What the language of a route says of it. Costs next to nothing for an object that was compiled before. */
export const compiledRoute = (route: EdgeRoute): Compiled => {
  const { metadata, rule } = compile(route)
  const { namespace, name, uid, generation, deletionTimestamp } = metadata ?? nobody(route)
  const key = E.isRight(rule) ? rule.right.owner.key : { namespace, name }
  const of = { key, uid, generation }
  if (deletionTimestamp !== undefined) return refused(of, { _tag: 'Terminating' })
  if (E.isLeft(rule)) return refused(of, { _tag: 'Invalid', errors: rule.left })
  return { key, uid, generation, result: { _tag: 'Rules', rules: [rule.right] } }
}

/** The uid of a route, as `compiledRoute` has it. */
export const uidOf = (route: EdgeRoute): string => (compile(route).metadata ?? nobody(route)).uid

/** What can be said of an object whose metadata is broken: its names, in so far as they are text. */
const nobody = (route: EdgeRoute): Metadata => {
  const namespace = textAt(route, 'namespace')
  const name = textAt(route, 'name')
  const uid = textAt(route, 'uid') || `${namespace}/${name}`
  return { namespace, name, uid, generation: 0, finalizers: [] }
}

const textAt = (route: unknown, key: string): string => {
  try {
    const value = propertyOf(propertyOf(route, 'metadata'), key)
    return typeof value === 'string' ? value : ''
  } catch {
    return ''
  }
}

const refused = (of: Omit<Compiled, 'result'>, acceptance: Acceptance): Compiled => ({
  ...of,
  result: { _tag: 'Refused', acceptance },
})

export const rulesOf = ({ result }: Compiled): ReadonlyArray<Rule> =>
  result._tag === 'Rules' ? result.rules : []

/** An object whose rules name a fleet that is not there takes no part. */
export const placed = (object: Compiled, dataPlanes: Context['dataPlanes']): Compiled => {
  const stray = rulesOf(object).find(({ dataPlane }) => !dataPlanes.has(dataPlane))
  if (stray === undefined) return object
  const known = [...dataPlanes.keys()].sort(compareStrings)
  return refused(object, { _tag: 'UnknownDataPlane', dataPlane: stray.dataPlane, known })
}

/** One object for each uid, in the order of the uids. */
export const oneOfEach = (objects: ReadonlyArray<Compiled>): ReadonlyArray<Compiled> => {
  const byUid = new Map<string, Compiled>()
  for (const object of objects) {
    const other = byUid.get(object.uid)
    byUid.set(object.uid, other === undefined ? object : countingOne(other, object))
  }
  return [...byUid.values()].sort((a, b) => compareStrings(a.uid, b.uid))
}

/** Which of two objects with one uid counts; of equals either, for nobody can tell. */
export const countingOne = (a: Compiled, b: Compiled): Compiled =>
  compareStrings(precedenceOf(b), precedenceOf(a)) > 0 ? b : a

/**
 * Of two objects with one uid that with the greater text counts: one whose metadata can be read, the later
 * generation, one that is being deleted; then content, so that their order says nothing. (Made of what was
 * compiled: a generation or a spec that was put together by hand may be anything.)
 */
const precedenceOf = ({ key, generation, result }: Compiled): string => {
  const content = JSON.stringify([key, result])
  if (result._tag === 'Rules') return `${rankOf(generation)} 0 ${content}`
  const { acceptance } = result
  const isBroken = acceptance._tag === 'Invalid' && acceptance.errors.some(isOfMetadata)
  const terminating = acceptance._tag === 'Terminating' ? 1 : 0
  return isBroken ? content : `${rankOf(generation)} ${terminating} ${content}`
}

const isOfMetadata = ({ path }: FieldError): boolean => path.startsWith('metadata')

/** Sorts behind all text that begins with a bracket, as that of an object with broken metadata does. */
const rankOf = (generation: number): string =>
  `g${String(generation).padStart(maxGenerationDigits, '0')}`

/** Those of the greatest integer that JavaScript can count to. */
const maxGenerationDigits = 16

/** What is said of an object; `outcome` tells how its rules fare against those of others. */
export const verdictOf = (
  { key, uid, generation, result }: Compiled,
  outcome: Acceptance | undefined,
  destinations: (dataPlane: string) => Destinations,
): Verdict => {
  if (result._tag === 'Refused')
    return { key, uid, generation, accepted: result.acceptance, unresolved: nothingUnresolved }
  return {
    key,
    uid,
    generation,
    accepted: outcome ?? accepted,
    unresolved: unresolvedIn(result.rules, destinations),
  }
}

const unresolvedIn = (
  rules: ReadonlyArray<Rule>,
  destinations: (dataPlane: string) => Destinations,
): Verdict['unresolved'] => {
  const refs = rules.flatMap((rule) => unresolvedRefs(rule, destinations(rule.dataPlane)))
  return refs.length === 0 ? nothingUnresolved : refs
}

/** Of most objects; one for all of them. */
const nothingUnresolved: Verdict['unresolved'] = []
