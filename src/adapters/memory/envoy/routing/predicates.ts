import * as E from 'fp-ts/lib/Either.js'
import type { RE2JS } from 're2js'
import {
  HeaderMatcher,
  QueryParameterMatcher,
} from '../../../../gen/envoy/config/route/v3/route_components.js'
import { RegexMatcher } from '../../../../gen/envoy/type/matcher/v3/regex.js'
import { StringMatcher } from '../../../../gen/envoy/type/matcher/v3/string.js'
import { type Header, valuesOf } from './headers.js'
import { modelled, notModelled } from './modelled.js'
import { readRegex } from './regex.js'

/** What matchers look at. */
export interface Facts {
  /** Normalised, without the query. */
  readonly path: string
  /** With its question mark; empty where there is none. */
  readonly query: string
  readonly host: string
  /** With the pseudo headers `:method`, `:path`, `:authority` and `:scheme`. */
  readonly headers: ReadonlyArray<Header>
  readonly parameters: ReadonlyArray<readonly [name: string, value: string]>
}

export type Predicate = (facts: Facts) => boolean

/**
 * Of a header that comes more than once, any value may match, and inverted none may. An absent header
 * matches no test of its value, inverted or not; one that is to be treated as empty counts as there.
 * (Seen on Envoy 1.40; before, values were joined by commas.)
 */
export const compileHeader = (matcher: HeaderMatcher): Predicate => {
  checkHeader(matcher)
  const name = (matcher.name ?? '').toLowerCase()
  const missing = matcher.treatMissingHeaderAsEmpty === true ? [''] : []
  const values = ({ headers }: Facts): ReadonlyArray<string> => {
    const found = valuesOf(headers, name)
    return found.length === 0 ? missing : found
  }
  const invert = matcher.invertMatch === true
  const specifier = matcher.headerMatchSpecifier
  if (specifier === undefined || specifier.$case === 'presentMatch') {
    const present = specifier?.value ?? true
    return (facts) => (values(facts).length > 0 === present) !== invert
  }
  const test = compileString(asStringMatcher(specifier))
  return (facts) => {
    const found = values(facts)
    return found.length > 0 && found.some(test) !== invert
  }
}

type HeaderSpecifier = NonNullable<HeaderMatcher['headerMatchSpecifier']>

/** The deprecated specifiers mean what a `string_match` of their kind means. */
const asStringMatcher = (specifier: HeaderSpecifier): StringMatcher => {
  switch (specifier.$case) {
    case 'stringMatch':
      return specifier.value
    case 'exactMatch':
      return { matchPattern: { $case: 'exact', value: specifier.value } }
    case 'prefixMatch':
      return { matchPattern: { $case: 'prefix', value: specifier.value } }
    case 'suffixMatch':
      return { matchPattern: { $case: 'suffix', value: specifier.value } }
    case 'containsMatch':
      return { matchPattern: { $case: 'contains', value: specifier.value } }
    case 'safeRegexMatch':
      return { matchPattern: { $case: 'safeRegex', value: specifier.value } }
    case 'rangeMatch':
    case 'presentMatch':
      return notModelled(`HeaderMatcher.${specifier.$case}`)
  }
}

/** Of a parameter that is given more than once, the first value counts. */
export const compileParameter = (matcher: QueryParameterMatcher): Predicate => {
  checkParameter(matcher)
  const specifier = matcher.queryParameterMatchSpecifier
  const firstValue = ({ parameters }: Facts): string | undefined =>
    parameters.find(([name]) => name === matcher.name)?.[1]
  if (specifier?.$case !== 'stringMatch') {
    const present = specifier?.value ?? true
    return (facts) => (firstValue(facts) !== undefined) === present
  }
  const test = compileString(specifier.value)
  return (facts) => {
    const value = firstValue(facts)
    return value !== undefined && test(value)
  }
}

/** Compiles RE2 syntax, each text once. Throws what RE2 says of a bad one. */
export const compileRegex = (matcher: RegexMatcher | undefined): RE2JS => {
  checkRegex(matcher ?? {})
  const regex = readRegex(matcher?.regex ?? '')
  if (E.isLeft(regex)) throw new Error(`Envoy refuses this regex: ${regex.left}`)
  return regex.right
}

const compileString = (matcher: StringMatcher): ((value: string) => boolean) => {
  checkString(matcher)
  const pattern = matcher.matchPattern
  const fold = (text: string): string => (matcher.ignoreCase === true ? text.toLowerCase() : text)
  switch (pattern?.$case) {
    case 'exact':
      return (value) => fold(value) === fold(pattern.value)
    case 'prefix':
      return (value) => fold(value).startsWith(fold(pattern.value))
    case 'suffix':
      return (value) => fold(value).endsWith(fold(pattern.value))
    case 'contains':
      return (value) => fold(value).includes(fold(pattern.value))
    case 'safeRegex': {
      const regex = compileRegex(pattern.value)
      return (value) => regex.testExact(value)
    }
    case 'custom':
    case undefined:
      return notModelled(`StringMatcher.${pattern?.$case ?? 'matchPattern being absent'}`)
  }
}

const checkHeader = modelled(HeaderMatcher, [
  'name',
  'headerMatchSpecifier',
  'invertMatch',
  'treatMissingHeaderAsEmpty',
])
const checkParameter = modelled(QueryParameterMatcher, ['name', 'queryParameterMatchSpecifier'])
const checkString = modelled(StringMatcher, ['matchPattern', 'ignoreCase'])
/** The engine is always RE2; its limits are a matter of acceptance. */
const checkRegex = modelled(RegexMatcher, ['engineType', 'regex'])
