import { finalizer } from '../../../core/stored-object.js'
import type { NodeDocument, RouteDocument, RoutesDocument } from '../../admin/document.js'
import { countEnvoys, describeNode } from './show-node.js'
import { standingWords } from './standing.js'
import { forgetCommandOf, printable, shellWord, showName, showSince } from './words.js'

/** Envoys that are described one by one; all that there are is in the JSON. */
const maxDescribed = 20

/** Why each object of a name is where it is, and what to do next. */
export const showRoutes = ({ now, routes }: RoutesDocument, adminWords: string): string =>
  routes.map((route) => showRoute(route, now, adminWords)).join('\n')

const showRoute = (route: RouteDocument, now: string, adminWords: string): string =>
  [
    `${nameOf(route)} ${headline(route, now)}`,
    ...details(route, now).map((line) => `  ${line}`),
    ...section('Not confirmed by:', describeOwed(route, now)),
    ...section('What to do:', advice(route, adminWords)),
    '',
  ].join('\n')

const nameOf = ({ namespace, name }: RouteDocument): string =>
  `${showName(namespace)}/${showName(name)}`

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]

const headline = ({ state, waitsFor, conditions }: RouteDocument, now: string): string => {
  switch (state) {
    case 'Guarding':
      return `is not served yet: it needs the finalizer ${finalizer} first`
    case 'Serving':
      return standingWords(conditions)
    case 'Waiting':
      return `is Terminating, and ${waitingWords(waitsFor, now)}`
    case 'Settling':
      return 'is Terminating, and gone from every Envoy; its release follows within a second'
    case 'Releasing':
      return `is Terminating, and gone from every Envoy; the finalizer ${finalizer} is being taken off`
    case 'Released':
      return 'is released: if the object is still there, something else than edgewright holds it'
  }
}

const waitingWords = (waitsFor: RouteDocument['waitsFor'], now: string): string => {
  switch (waitsFor?.reason) {
    case 'Owed':
      return `waits for ${countEnvoys(waitsFor.nodeCount)} that may still serve it`
    case 'Starting':
      return `the control plane has begun a moment ago: Envoys may come back until ${showUntil(waitsFor.until, now)}`
    case 'RosterUnsaved':
      return `the list of Envoys cannot be saved: ${printable(waitsFor.message)}`
    case 'NotHolding':
      return `nothing is proven at the moment: ${printable(waitsFor.message)}`
    case undefined:
      return 'is on its way'
  }
}

const showUntil = (until: string, now: string): string => {
  const seconds = Math.ceil((Date.parse(until) - Date.parse(now)) / 1_000)
  return seconds > 0 ? `${printable(until)} (in ${seconds}s)` : printable(until)
}

const details = (route: RouteDocument, now: string): ReadonlyArray<string> => [
  `uid        ${showName(route.uid)}`,
  ...(route.since === undefined ? [] : [`withdrawn  ${showSince(route.since, now)}`]),
  ...(route.failure === undefined ? [] : [`failed     ${printable(route.failure)}`]),
  ...route.conditions.map(({ type, status, reason, message }, index) => {
    const words = `${type}=${status} ${reason}${message === '' ? '' : `: ${message}`}`
    return `${index === 0 ? 'conditions' : ''.padEnd(10)} ${printable(words)}`
  }),
]

const describeOwed = ({ owed, owedCount }: RouteDocument, now: string): ReadonlyArray<string> => {
  const described = owed.slice(0, maxDescribed)
  const rest = owedCount - described.length
  return [
    ...described.flatMap((node) => describeNode(node, now)),
    ...(rest > 0 ? [`and ${rest} more: --output json, or edgewright nodes`] : []),
  ]
}

/** Breaking the glass helps against waiting alone: a write that fails would fail again. */
const advice = (route: RouteDocument, adminWords: string): ReadonlyArray<string> => {
  if (route.state !== 'Waiting') return writeAdvice(route)
  const name = shellWord(`${route.namespace}/${route.name}`)
  return [
    ...causes(route, adminWords),
    `If it cannot wait: edgewright break-glass ${name}${adminWords}`,
    '  An Envoy that has not confirmed may go on serving the route after that.',
  ]
}

const writeAdvice = ({ failure }: RouteDocument): ReadonlyArray<string> =>
  failure === undefined
    ? []
    : [
        'See why the object cannot be written: the reason is above, and it is tried again.',
        '  If the control plane lacks a permission: kubectl apply -k deploy',
      ]

/** One piece of advice for each cause that is there. */
const causes = (
  { owed, waitsFor, stored }: RouteDocument,
  adminWords: string,
): ReadonlyArray<string> => {
  const connected = owed.filter((node) => node.connected)
  const awaited = owed.filter((node) => node.awaited)
  const lost = owed.filter((node) => !node.connected && !node.awaited)
  return [
    ...(waitsFor?.reason === 'Starting' ? ['Wait: it goes on by itself.'] : []),
    ...(waitsFor?.reason === 'RosterUnsaved' ? rosterAdvice(stored) : []),
    ...(waitsFor?.reason === 'NotHolding' ? holdingAdvice : []),
    ...about(connected.filter(refuses), [
      'refuses what it was sent.',
      '  Correct or delete the route that its message speaks of.',
    ]),
    ...about(
      connected.filter((node) => !refuses(node)),
      [
        'is connected, and has not answered yet.',
        '  If it stays so, see whether its process is stopped or overloaded.',
      ],
    ),
    ...about(awaited, [
      'has not been heard of since the control plane began.',
      '  Wait a minute: it may be about to come back, and confirms by itself then.',
    ]),
    ...about(lost, [
      'is lost, and may still serve what it had; it confirms by itself when it is back.',
    ]),
    ...lost
      .slice(0, 1)
      .map(({ id }) => `  If its process is surely gone: ${forgetCommandOf(id, adminWords)}`),
    ...about(
      owed.filter(({ shared }) => shared),
      ['shares its id with another one.', '  Give each an id of its own: edgewright bootstrap'],
    ),
  ]
}

/** A directory of routes has its list in a file, a cluster in itself. */
const rosterAdvice = (stored: boolean | undefined): ReadonlyArray<string> => [
  'See why the list of Envoys is not safe: the reason is above, and until it is nothing is released.',
  ...(stored === true
    ? ['  If the control plane may not write ConfigMaps of its namespace: kubectl apply -k deploy']
    : ['  If it cannot be written: make the file of --roster writable.']),
]

/** Whoever holds it by then, this one or another, goes on with what waits. */
const holdingAdvice = [
  'Wait: it goes on by itself once the Lease is held again.',
  '  If it stays so, see why the Lease cannot be kept: the log of the control plane says it.',
]

const refuses = ({ lastSaid }: NodeDocument): boolean => lastSaid?.what === 'NACK'

const about = (
  nodes: ReadonlyArray<NodeDocument>,
  [words = '', ...more]: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const [first] = nodes
  if (first === undefined) return []
  const rest = nodes.length - 1
  return [`${showName(first.id)}${rest > 0 ? ` (and ${rest} like it)` : ''} ${words}`, ...more]
}
