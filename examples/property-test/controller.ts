import { type EdgeRoute, type RouteKey, showKey } from 'edgewright'

/** Where objects are kept; a cluster as a rule. */
export interface Objects {
  readonly list: () => ReadonlyArray<{ readonly metadata: RouteKey }>
  readonly apply: (route: EdgeRoute) => Promise<unknown>
  readonly remove: (key: RouteKey) => Promise<unknown>
}

/** A little controller: makes the objects be these, whatever they were. */
export const sync = async (wanted: ReadonlyArray<EdgeRoute>, objects: Objects): Promise<void> => {
  const names = new Set(wanted.map(({ metadata }) => showKey(metadata)))
  for (const { metadata } of objects.list())
    if (!names.has(showKey(metadata))) await objects.remove(metadata)
  for (const route of wanted) await objects.apply(route)
}
