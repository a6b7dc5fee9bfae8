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
import type { Fragment } from '../resource.js'
import type { HeaderEdits, RuleMatch, RulePath, ValuePredicate } from '../rule.js'
import { actionOf, clustersOfAction } from './actions.js'
import type { Granted } from './claims.js'
import { sortKey } from './precedence.js'

/** Encodes one claim as a Route. */
export const fragmentOf = ({ rule, host, match, claim }: Granted): Fragment => {
  const { owner, action, requestHeaders, responseHeaders } = rule
  const bytes = Route.encode({
    // Envoy names it in its logs and refusals, where a person looks for the object.
    name: showKey(owner.key),
    match: routeMatch(match),
    action: actionOf(action, match.path),
    requestHeadersToAdd: headersToAdd(requestHeaders),
    requestHeadersToRemove: requestHeaders.remove,
    responseHeadersToAdd: headersToAdd(responseHeaders),
    responseHeadersToRemove: responseHeaders.remove,
  }).finish()
  return {
    owner: owner.uid,
    virtualHost: host,
    sortKey: sortKey(match, owner, claim),
    bytes,
    version: digest([bytes]),
    clusters: clustersOfAction(action),
  }
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
