import { headOf } from '../../../core/cut-message.js'
import type { NodeDocument, NodesDocument } from '../../admin/document.js'
import { plural, printable, showAge, showName, showSince } from './words.js'

/** Routes that are named in a cell of the table. */
const maxNamedRoutes = 3

/** Characters of an Envoy's message in a cell of the table; more is in the JSON. */
const maxCellMessage = 60

/** Characters of an Envoy's message in a line of its own: that a port is busy takes some 90. */
const maxLineMessage = 200

/** The Envoys as a table, those that hold something up first. */
export const showNodes = ({ now, nodes, nodeCount }: NodesDocument): string => {
  if (nodes.length === 0) return 'No Envoy is known.\n'
  const rest = nodeCount - nodes.length
  const header = ['ID', 'DATA PLANE', 'STATE', 'SINCE', 'LAST SAID', 'HOLDS UP']
  const [head = '', ...rows] = table([header, ...nodes.map((node) => cellsOf(node, now))])
  return [
    head,
    ...nodes.flatMap((node, index) => [rows[index] ?? '', ...refusalLines(node)]),
    ...(rest > 0 ? [`and ${rest} more`] : []),
    '',
  ].join('\n')
}

const cellsOf = (node: NodeDocument, now: string): ReadonlyArray<string> => [
  showName(node.id),
  showName(node.dataPlane),
  showState(node),
  node.since === undefined ? '-' : showSince(node.since, now),
  showLastSaid(node, now),
  showHeldUp(node.holdsUp, node.holdsUpCount, maxNamedRoutes),
]

const showState = ({ connected, awaited, shared }: NodeDocument): string => {
  const state = connected ? 'connected' : awaited ? 'not heard of yet' : 'lost'
  return `${state}${shared ? ', shared id' : ''}`
}

/** One that comes back with everything is sent nothing, and has nothing to answer. */
const showLastSaid = ({ lastSaid, upToDate }: NodeDocument, now: string): string => {
  if (lastSaid === undefined) return upToDate ? 'up to date when it came' : '-'
  const { what, at, version, message } = lastSaid
  const said = `${what} ${printable(version)} (${showAge(at, now)} ago)`
  return what === 'ACK' ? said : `${said}: ${showHead(message, maxCellMessage)}`
}

const showHead = (message: string, length: number): string => {
  const head = headOf(message, length)
  return `${printable(head)}${head === message ? '' : '…'}`
}

/** What an Envoy refuses that stands for no route, each in a line of its own. */
const refusalLines = ({ refusals, refusalsCount }: NodeDocument): ReadonlyArray<string> => {
  const rest = refusalsCount - refusals.length
  return [
    ...refusals.map(
      ({ type, name, message }) =>
        `  refuses ${printable(type)} ${showName(name)}: ${showHead(message, maxLineMessage)}`,
    ),
    ...(rest > 0 ? [`  and refuses ${rest} more`] : []),
  ]
}

/** The first of some routes, and how many more there are; `-` for none. */
export const showHeldUp = (
  routes: ReadonlyArray<string>,
  count: number,
  maxNamed: number = routes.length,
): string => {
  if (count === 0) return '-'
  const named = routes.slice(0, maxNamed)
  const rest = count - named.length
  return `${named.map(showName).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Rows of cells, the first one with the headings; columns are as wide as they must be. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** One Envoy in a few lines, for those who look for why it has not confirmed. */
export const describeNode = (node: NodeDocument, now: string): ReadonlyArray<string> => [
  `${showName(node.id)} of the data plane ${showName(node.dataPlane)}`,
  `  ${stateWords(node, now)}`,
  `  ${lastWords(node, now)}`,
  ...refusalLines(node),
  ...(node.shared ? ['  more than one Envoy has this id: each of them must confirm'] : []),
]

const stateWords = ({ connected, awaited, since }: NodeDocument, now: string): string => {
  if (awaited) return 'not heard of since the control plane began a moment ago'
  if (since !== undefined)
    return `${connected ? 'connected' : 'lost'} since ${showSince(since, now)}`
  return connected ? 'connected' : 'lost since before the control plane began'
}

const lastWords = ({ lastSaid, upToDate }: NodeDocument, now: string): string => {
  if (lastSaid === undefined)
    return upToDate
      ? 'has had every route table as it is since it came'
      : 'has said nothing of a route table yet'
  const { what, version, at, message } = lastSaid
  const reason = what === 'NACK' ? `: ${printable(message)}` : ''
  return `said last: ${what} of version ${printable(version)} at ${showSince(at, now)}${reason}`
}

/** `2 Envoys`. */
export const countEnvoys = (count: number): string => plural(count, 'Envoy')
