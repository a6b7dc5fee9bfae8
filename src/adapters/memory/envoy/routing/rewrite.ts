import type { Matcher, RE2JS } from 're2js'
import { RegexMatchAndSubstitute } from '../../../../gen/envoy/type/matcher/v3/regex.js'
import type { MatchedPath } from './match.js'
import { modelled } from './modelled.js'
import { compileRegex, type Facts } from './predicates.js'

/** The path without the query that a request has after the rewrite. */
export type PathRewrite = (facts: Facts) => string

/** Puts `prefix` in place of what was matched, and nothing else: `/` for `/a` makes `//b` of `/a/b`. */
export const prefixRewrite =
  (prefix: string, matchedPath: MatchedPath): PathRewrite =>
  (facts) =>
    prefix + facts.path.slice(matchedPath(facts).length)

/** Replaces every match; `\1` to `\9` stand for groups, `\0` for the match, `\\` for a backslash. */
export const regexRewrite = (rewrite: RegexMatchAndSubstitute): PathRewrite => {
  checkRewrite(rewrite)
  const pattern = compileRegex(rewrite.pattern)
  const substitution = rewrite.substitution ?? ''
  return ({ path }) => replaceAll(path, pattern, (groups) => substitute(substitution, groups))
}

/** As RE2 does it: an empty match right behind the last match is passed over. */
const replaceAll = (
  text: string,
  pattern: RE2JS,
  replace: (groups: ReadonlyArray<string>) => string,
): string => {
  const matcher = pattern.matcher(text)
  let out = ''
  let at = 0
  let lastEnd = -1
  while (at <= text.length && matcher.find(at)) {
    out += text.slice(at, matcher.start())
    if (matcher.start() === lastEnd && matcher.end() === lastEnd) {
      out += text.slice(lastEnd, lastEnd + 1)
      at = lastEnd + 1
      continue
    }
    out += replace(groupsOf(matcher))
    at = lastEnd = matcher.end()
  }
  return out + text.slice(at)
}

const groupsOf = (matcher: Matcher): ReadonlyArray<string> =>
  Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? '')

const substitute = (substitution: string, groups: ReadonlyArray<string>): string =>
  substitution.replace(/\\([0-9\\])/g, (_escape, character: string) =>
    character === '\\' ? character : (groups[Number(character)] ?? ''),
  )

const checkRewrite = modelled(RegexMatchAndSubstitute, ['pattern', 'substitution'])
