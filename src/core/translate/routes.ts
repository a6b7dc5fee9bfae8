import {
  type HeaderMatcher,
  type QueryParameterMatcher,
  Route,
  type RouteMatch,
} from '../../gen/envoy/config/route/v3/route_components.js'
import {
  HeaderValueOption_HeaderAppendAction,
  type HeaderValueOption,
} from '../../gen/envoy/config/core/v3/base.js'
import type { StringMatcher } from '../../gen/envoy/type/matcher/v3/string.js'
import { digest } from '../digest.js'
import { showKey } from '../edge-route.js'
import { encoded } from '../encoded.js'
import type { Fragment } from '../resource.js'
import type { HeaderEdits, Rule, RuleMatch, RulePath, ValuePredicate } from '../rule.js'
import { actionOf, clustersOfAction, formOf } from './actions.js'
import type { RuleClaim } from './claims.js'
import type { ClusterNames } from './clusters.js'
import { seniorityOf, sortKey } from './precedence.js'

/**
 * Encodes claims as Routes, in the order in which they come.
 *
 * What an object says of all its claims is encoded once, and shared by their fragments.
 */
export const fragmentsOf = (
  granted: ReadonlyArray<RuleClaim>,
  nameOf: ClusterNames,
): ReadonlyArray<Fragment> => {
  const encoders = new Map<Rule, Encoder>()
  return granted.map((grant) => {
    const encode = encoders.get(grant.rule) ?? encoderOf(grant.rule, nameOf)
    encoders.set(grant.rule, encode)
    return encode(grant)
  })
}

/** Encodes the claims of one rule. */
export type Encoder = (claim: RuleClaim) => Fragment

export const encoderOf = (rule: Rule, nameOf: ClusterNames): Encoder => {
  const { owner, action } = rule
  const clusters = clustersOfAction(action, nameOf)
  const rank = seniorityOf(owner)
  const rests = new Map<string, Uint8Array>()
  return ({ host, match, claim }) => {
    const form = formOf(action, match.path)
    const rest = rests.get(form) ?? encodeRest(rule, match.path, nameOf)
    rests.set(form, rest)
    const head = encoded(Route, { match: routeMatch(match) })
    return {
      owner: owner.uid,
      virtualHost: host,
      claim,
      sortKey: sortKey(match, rank, claim),
      path: match.path,
      match: head,
      rest,
      version: digest([head, rest]),
      clusters,
    }
  }
}

/** Everything of a Route but its match. */
const encodeRest = (rule: Rule, path: RulePath, nameOf: ClusterNames): Uint8Array => {
  const { owner, action, requestHeaders, responseHeaders } = rule
  return encoded(Route, {
    // Envoy names it in its logs and refusals, where a person looks for the object.
    name: showKey(owner.key),
    action: actionOf(action, path, nameOf),
    requestHeadersToAdd: headersToAdd(requestHeaders),
    requestHeadersToRemove: requestHeaders.remove,
    responseHeadersToAdd: headersToAdd(responseHeaders),
    responseHeadersToRemove: responseHeaders.remove,
  })
}

const routeMatch = ({ path, method, headers, query }: RuleMatch): RouteMatch => ({
  pathSpecifier: pathSpecifier(path),
  headers: [
    ...(method === undefined ? [] : [methodMatcher(method)]),
    ...headers.map(headerMatcher),
  ],
  queryParameters: query.map(queryMatcher),
})

const pathSpecifier = (path: RulePath): RouteMatch['pathSpecifier'] => {
  switch (path._tag) {
    case 'Exact':
      return { $case: 'path', value: path.value }
    case 'Prefix':
      // Envoy refuses "/" as a prefix of whole path elements, and there it makes no difference.
      return path.value === '/'
        ? { $case: 'prefix', value: '/' }
        : { $case: 'pathSeparatedPrefix', value: path.value }
    case 'Regex':
      return { $case: 'safeRegex', value: { regex: path.value } }
  }
}

const methodMatcher = (method: string): HeaderMatcher => ({
  name: ':method',
  headerMatchSpecifier: {
    $case: 'stringMatch',
    value: { matchPattern: { $case: 'exact', value: method } },
  },
})

const headerMatcher = (predicate: ValuePredicate): HeaderMatcher => ({
  name: predicate.name,
  headerMatchSpecifier:
    predicate._tag === 'Present'
      ? { $case: 'presentMatch', value: true }
      : { $case: 'stringMatch', value: stringMatcher(predicate) },
})

const queryMatcher = (predicate: ValuePredicate): QueryParameterMatcher => ({
  name: predicate.name,
  queryParameterMatchSpecifier:
    predicate._tag === 'Present'
      ? { $case: 'presentMatch', value: true }
      : { $case: 'stringMatch', value: stringMatcher(predicate) },
})

const stringMatcher = (
  predicate: Exclude<ValuePredicate, { readonly _tag: 'Present' }>,
): StringMatcher => {
  switch (predicate._tag) {
    case 'Exact':
      return { matchPattern: { $case: 'exact', value: predicate.value } }
    case 'Prefix':
      return { matchPattern: { $case: 'prefix', value: predicate.value } }
    case 'Regex':
      return { matchPattern: { $case: 'safeRegex', value: { regex: predicate.value } } }
  }
}

const headersToAdd = ({ set, add }: HeaderEdits): ReadonlyArray<HeaderValueOption> => [
  ...set.map(headerOption(HeaderValueOption_HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD)),
  ...add.map(headerOption(HeaderValueOption_HeaderAppendAction.APPEND_IF_EXISTS_OR_ADD)),
]

/** Envoy reads a value as a format: a percent sign stands for itself only when it is doubled. */
const headerOption =
  (appendAction: HeaderValueOption_HeaderAppendAction) =>
  ({ name, value }: { readonly name: string; readonly value: string }): HeaderValueOption => ({
    header: { key: name, value: value.replaceAll('%', '%%') },
    appendAction,
    keepEmptyValue: value === '',
  })
