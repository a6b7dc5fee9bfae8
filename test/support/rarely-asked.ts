/**
 * What a control plane asks of an API server only when something goes wrong or grows large, as in `get edgeroutes`: by
 * RBAC's verb and resource, with the reason.
 */
export const rarelyAsked: ReadonlyMap<string, string> = new Map([
  ['get edgeroutes', 'after a write that was refused, to tell a conflict from a refusal'],
  ['list edgeroutes', 'of a server that cannot list by a watch'],
  ['list pods', 'of a server that cannot list by a watch'],
  ['patch events', 'to count what has happened before'],
  ['delete configmaps', 'for what a roster that has shrunk leaves behind'],
])
