import type { PathRoute } from '../../src/core/matcher-tree.js'
import { compareStrings } from '../../src/core/order.js'

/**
 * The lists of a tree by their keys, as the words in `matcher-tree.ts` say them: what stands in a list is found by a
 * look at each route. The keys come in their order.
 */
export const flattened = (
  routes: ReadonlyArray<PathRoute>,
): ReadonlyMap<string, ReadonlyArray<PathRoute>> => {
  const keys = [...new Set(routes.map(({ path }) => path.value))].sort(compareStrings)
  return new Map(keys.map((key) => [key, routes.filter(({ path }) => isIn(path, key))]))
}

const isIn = ({ _tag, value }: PathRoute['path'], key: string): boolean =>
  value === key || (_tag === 'Prefix' && (value === '/' || key.startsWith(`${value}/`)))
