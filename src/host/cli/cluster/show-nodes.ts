import { showHeldUp, table } from '../admin/show-node.js'
import { plural, printable, showName, showSince } from '../admin/words.js'
import { showControlPlane } from './control-plane.js'
import type { ClusterNodeDocument, ClusterNodesDocument } from './document.js'

/** Routes that are named in a cell of the table. */
const maxNamedRoutes = 3

/** The Envoys as a table, and behind it what the table cannot say. */
export const showClusterNodes = (
  { now, nodes, partlyNamed, controlPlane }: ClusterNodesDocument,
  ownNamespace: string,
): string => {
  const header = ['ID', 'DATA PLANE', 'FIRST SEEN', 'POD', 'HOLDS UP']
  const rest = partlyNamed.length
  return [
    ...(nodes.length === 0
      ? ['No Envoy is known.']
      : table([header, ...nodes.map((node) => cellsOf(node, now))])),
    ...(rest === 0
      ? []
      : [
          `${plural(rest, 'route')} ${rest === 1 ? 'waits' : 'wait'} for more Envoys than its condition names.`,
        ]),
    '',
    `Control plane: ${showControlPlane(controlPlane, ownNamespace, now)}.`,
    '',
  ].join('\n')
}

const cellsOf = (
  { id, dataPlane, shared, since, pod, holdsUp }: ClusterNodeDocument,
  now: string,
): ReadonlyArray<string> => [
  `${showName(id)}${shared ? ' (shared id)' : ''}`,
  showName(dataPlane),
  showSince(since, now),
  pod === undefined ? '-' : printable(pod.phase),
  showHeldUp(holdsUp, holdsUp.length, maxNamedRoutes),
]
