import { isDeepStrictEqual } from 'node:util'
import {
  type EdgeRoute,
  type EdgeRouteSpec,
  type RouteKey,
  showKey,
} from '../../core/edge-route.js'

/**
 * The object of a name that has this spec.
 *
 * It is the very object that it was before unless the spec has changed, so that whoever remembers
 * things of it can compare references. Its generation counts these changes, from 1. It has no age,
 * and its uid is its name: it stays the same object when it moves to another file.
 */
export const routeOf = (
  key: RouteKey,
  spec: EdgeRouteSpec,
  before: EdgeRoute | undefined,
): EdgeRoute => {
  if (before !== undefined && isDeepStrictEqual(before.spec, spec)) return before
  const generation = (before?.metadata.generation ?? 0) + 1
  const { namespace, name } = key
  const uid = `file:${showKey(key)}`
  return { metadata: { namespace, name, uid, generation, finalizers: [] }, spec }
}
