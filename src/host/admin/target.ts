import type { RouteKey } from '../../core/edge-route.js'

/** What a path stands for. */
export type Target =
  | { readonly _tag: 'Routes'; readonly method: 'GET'; readonly key: RouteKey }
  | { readonly _tag: 'Nodes'; readonly method: 'GET' }
  | { readonly _tag: 'Forget'; readonly method: 'POST'; readonly id: string }
  | { readonly _tag: 'BreakGlass'; readonly method: 'POST'; readonly key: RouteKey }

/**
 * Understands a path: each name in it is percent-encoded. Nothing is normalised, so that a node may be
 * called `..` or have a slash in its id.
 */
export const targetOf = (path: string): Target | undefined => {
  const segments = path.split('/').map(decode)
  if (!segments.every((segment) => segment !== undefined)) return undefined
  const [root, version, kind, ...names] = segments
  if (root !== '' || version !== 'v1') return undefined
  const [first, second, third, ...more] = names
  if (more.length > 0) return undefined
  if (kind === 'nodes') return nodesTarget(first, second, third)
  if (kind !== 'routes' || first === undefined || second === undefined) return undefined
  const key = { namespace: first, name: second }
  if (names.length === 2) return { _tag: 'Routes', method: 'GET', key }
  return third === 'break-glass' ? { _tag: 'BreakGlass', method: 'POST', key } : undefined
}

const nodesTarget = (
  id: string | undefined,
  verb: string | undefined,
  more: string | undefined,
): Target | undefined => {
  if (id === undefined) return { _tag: 'Nodes', method: 'GET' }
  return verb === 'forget' && more === undefined
    ? { _tag: 'Forget', method: 'POST', id }
    : undefined
}

/** A slash between names has been split at before; `undefined` of what is no UTF-8. */
const decode = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
