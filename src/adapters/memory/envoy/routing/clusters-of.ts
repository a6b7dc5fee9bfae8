import type { Route } from '../../../../gen/envoy/config/route/v3/route_components.js'

/**
 * The clusters that a route may send a request to, `undefined` where that is left to the request or a
 * plugin. Mirrors do not count: nobody sees their answers.
 */
export const clustersOf = ({ action }: Route): ReadonlyArray<string> | undefined => {
  if (action?.$case !== 'route') return []
  const specifier = action.value.clusterSpecifier
  switch (specifier?.$case) {
    case 'cluster':
      return [specifier.value]
    case 'weightedClusters':
      return (specifier.value.clusters ?? []).map(({ name }) => name ?? '')
    case 'clusterHeader':
    case 'clusterSpecifierPlugin':
    case 'inlineClusterSpecifierPlugin':
      return undefined
    case undefined:
      return []
  }
}
