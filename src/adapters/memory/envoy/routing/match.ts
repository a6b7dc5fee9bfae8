import { RouteMatch } from '../../../../gen/envoy/config/route/v3/route_components.js'
import { modelled, notModelled } from './modelled.js'
import {
  compileHeader,
  compileParameter,
  compileRegex,
  type Facts,
  type Predicate,
} from './predicates.js'

/** The part of a path that a match stands for: what a prefix rewrite replaces. */
export type MatchedPath = (facts: Facts) => string

export interface CompiledMatch {
  readonly matches: Predicate
  readonly matchedPath: MatchedPath
}

/** Compiles a match: its path, and all of its headers and query parameters. */
export const compileMatch = (match: RouteMatch): CompiledMatch => {
  checkMatch(match)
  const path = compilePath(match)
  const others = [
    ...(match.headers ?? []).map(compileHeader),
    ...(match.queryParameters ?? []).map(compileParameter),
  ]
  return {
    matches: (facts) => path.matches(facts) && others.every((matches) => matches(facts)),
    matchedPath: path.matchedPath,
  }
}

const compilePath = (match: RouteMatch): CompiledMatch => {
  const caseSensitive = match.caseSensitive !== false
  const fold = (text: string): string => (caseSensitive ? text : text.toLowerCase())
  const specifier = match.pathSpecifier
  switch (specifier?.$case) {
    case 'prefix':
      return startsWith(specifier.value, (path, prefix) => fold(path).startsWith(fold(prefix)))
    case 'pathSeparatedPrefix':
      return startsWith(
        specifier.value,
        (path, prefix) => fold(path) === fold(prefix) || fold(path).startsWith(`${fold(prefix)}/`),
      )
    case 'path':
      return wholePath((path) => fold(path) === fold(specifier.value))
    case 'safeRegex': {
      const regex = compileRegex(specifier.value)
      return wholePath((path) => regex.testExact(path))
    }
    case 'connectMatcher':
    case 'pathMatchPolicy':
    case undefined:
      return notModelled(`RouteMatch.${specifier?.$case ?? 'pathSpecifier being absent'}`)
  }
}

const startsWith = (
  prefix: string,
  test: (path: string, prefix: string) => boolean,
): CompiledMatch => ({
  matches: ({ path }) => test(path, prefix),
  matchedPath: ({ path }) => path.slice(0, prefix.length),
})

const wholePath = (test: (path: string) => boolean): CompiledMatch => ({
  matches: ({ path }) => test(path),
  matchedPath: ({ path }) => path,
})

const checkMatch = modelled(RouteMatch, [
  'pathSpecifier',
  'caseSensitive',
  'headers',
  'queryParameters',
])
