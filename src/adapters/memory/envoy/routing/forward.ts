import {
  RouteAction,
  WeightedCluster,
  WeightedCluster_ClusterWeight as ClusterWeight,
} from '../../../../gen/envoy/config/route/v3/route_components.js'
import type { CompiledAction } from './action.js'
import { changeFields, type Changes, noChanges, readChanges } from './changes.js'
import { changeHeaders } from './headers.js'
import type { MatchedPath } from './match.js'
import { modelled, notModelled } from './modelled.js'
import { type PathRewrite, prefixRewrite, regexRewrite } from './rewrite.js'

/** Compiles a route that sends requests on. */
export const compileForward = (
  action: RouteAction,
  matchedPath: MatchedPath,
  changes: Changes,
): CompiledAction => {
  checkForward(action)
  const targets = readTargets(action)
  const rewrite = compileRewrite(action, matchedPath)
  return ({ facts, headers, pick }) => {
    const target = pickTarget(targets, pick)
    return {
      _tag: 'Forward',
      cluster: target.cluster,
      path: rewrite(facts) + facts.query,
      host: target.host ?? facts.host,
      headers: changeHeaders(headers, [...target.changes.request, ...changes.request]),
      responseChanges: [...target.changes.response, ...changes.response],
    }
  }
}

interface Target {
  readonly cluster: string
  readonly weight: number
  readonly host: string | undefined
  readonly changes: Changes
}

const readTargets = (action: RouteAction): ReadonlyArray<Target> => {
  const host = readHostRewrite(action.hostRewriteSpecifier)
  const specifier = action.clusterSpecifier
  switch (specifier?.$case) {
    case 'cluster':
      return [{ cluster: specifier.value, weight: 1, host, changes: noChanges }]
    case 'weightedClusters':
      checkWeighted(specifier.value)
      return (specifier.value.clusters ?? []).map((cluster) => readTarget(cluster, host))
    case 'clusterHeader':
    case 'clusterSpecifierPlugin':
    case 'inlineClusterSpecifierPlugin':
    case undefined:
      return notModelled(`RouteAction.${specifier?.$case ?? 'clusterSpecifier being absent'}`)
  }
}

/** Envoy rewrites the host by the weighted cluster first, and by the route after that. */
const readTarget = (cluster: ClusterWeight, host: string | undefined): Target => {
  checkWeight(cluster)
  return {
    cluster: cluster.name ?? '',
    weight: cluster.weight ?? 0,
    host: host ?? cluster.hostRewriteSpecifier?.value,
    changes: readChanges(cluster),
  }
}

/** Each target has the share of [0, 1) that its weight is of the sum. */
const pickTarget = (targets: ReadonlyArray<Target>, pick: number): Target => {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0)
  let end = 0
  for (const target of targets) {
    end += target.weight
    if (pick * total < end) return target
  }
  return notModelled(`a pick of ${pick} among weights that add up to ${total}`)
}

const compileRewrite = (action: RouteAction, matchedPath: MatchedPath): PathRewrite => {
  if (action.regexRewrite !== undefined) return regexRewrite(action.regexRewrite)
  return action.prefixRewrite === undefined || action.prefixRewrite === ''
    ? ({ path }) => path
    : prefixRewrite(action.prefixRewrite, matchedPath)
}

const readHostRewrite = (specifier: RouteAction['hostRewriteSpecifier']): string | undefined => {
  switch (specifier?.$case) {
    case undefined:
      return undefined
    case 'hostRewriteLiteral':
      return specifier.value
    case 'autoHostRewrite':
    case 'hostRewriteHeader':
    case 'hostRewritePathRegex':
    case 'hostRewrite':
      return notModelled(`RouteAction.${specifier.$case}`)
  }
}

/** Behind the first line: what a single request without failures cannot show. */
const checkForward = modelled(RouteAction, [
  ...(['clusterSpecifier', 'prefixRewrite', 'regexRewrite', 'hostRewriteSpecifier'] as const),
  ...(['timeout', 'idleTimeout', 'flushTimeout', 'maxStreamDuration'] as const),
  ...(['maxGrpcTimeout', 'grpcTimeoutOffset', 'earlyDataPolicy'] as const),
  ...(['retryPolicy', 'hedgePolicy', 'priority', 'hashPolicy'] as const),
])
const checkWeighted = modelled(WeightedCluster, ['clusters'])
const checkWeight = modelled(ClusterWeight, [
  'name',
  'weight',
  'hostRewriteSpecifier',
  ...changeFields,
])
