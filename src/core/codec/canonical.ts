import type { Match, PathMatch, ValueMatch } from '../edge-route.js'
import { compareStrings } from '../order.js'
import type { RuleMatch, RulePath, ValuePredicate } from '../rule.js'

/** The claims of one match in canonical form: one for each of its methods, in their order. */
export const expandMatch = (match: Match): ReadonlyArray<RuleMatch> => {
  const path = canonicalPath(match.path ?? {})
  const headers = canonicalValues(match.headers, (name) => name.toLowerCase())
  const query = canonicalValues(match.query, (name) => name)
  return (match.methods ?? [undefined]).map((method) => ({ path, method, headers, query }))
}

/** Equal for equal claims. */
export const matchKey = ({ path, method, headers, query }: RuleMatch): string =>
  JSON.stringify([
    path._tag,
    path.value,
    method ?? null,
    headers.map(valueKey),
    query.map(valueKey),
  ])

const valueKey = (value: ValuePredicate): ReadonlyArray<string> =>
  value._tag === 'Present' ? [value._tag, value.name] : [value._tag, value.name, value.value]

const canonicalPath = ({ prefix, exact, regex }: PathMatch): RulePath => {
  if (exact !== undefined) return { _tag: 'Exact', value: exact }
  if (regex !== undefined) return { _tag: 'Regex', value: regex }
  return { _tag: 'Prefix', value: withoutTrailingSlash(prefix ?? '/') }
}

/** `/a/` says the same as `/a`, since a prefix matches on path elements. */
const withoutTrailingSlash = (prefix: string): string =>
  prefix.length > 1 && prefix.endsWith('/') ? prefix.slice(0, -1) : prefix

const canonicalValues = (
  values: ReadonlyArray<ValueMatch> | undefined,
  canonicalName: (name: string) => string,
): ReadonlyArray<ValuePredicate> =>
  values === undefined
    ? noValues
    : values
        .map((value) => canonicalValue(value, canonicalName(value.name)))
        .sort((a, b) => compareStrings(a.name, b.name))

/** Of most matches; one for all of them. */
const noValues: ReadonlyArray<ValuePredicate> = []

const canonicalValue = ({ exact, prefix, regex }: ValueMatch, name: string): ValuePredicate => {
  if (exact !== undefined) return { _tag: 'Exact', name, value: exact }
  if (prefix !== undefined) return { _tag: 'Prefix', name, value: prefix }
  if (regex !== undefined) return { _tag: 'Regex', name, value: regex }
  return { _tag: 'Present', name }
}
