import { finalizer } from '../../../core/stored-object.js'
import { standingWords } from '../admin/standing.js'
import { forgetCommandOf, printable, shellWord, showName, showSince } from '../admin/words.js'
import { type ControlPlane, showControlPlane } from './control-plane.js'
import type { ClusterRouteDocument, ClusterRoutesDocument } from './document.js'
import { countWaitedFor, deprogrammed, waitedFor } from './waiting.js'

/** How a person would ask further. */
export interface Asking {
  readonly ownNamespace: string
  /** Options for a command that is proposed; begins with a space. */
  readonly words: string
}

/** What an API server has of a route, what its deletion waits for, and what to do next. */
export const showClusterRoutes = (document: ClusterRoutesDocument, asking: Asking): string =>
  document.routes
    .map((route) =>
      [
        `${showName(route.namespace)}/${showName(route.name)} ${headline(route, document)}`,
        ...details(route, document.now).map((line) => `  ${line}`),
        `  control    ${showControlPlane(document.controlPlane, asking.ownNamespace, document.now)}`,
        ...section('What to do:', advice(route, document, asking)),
        '',
      ].join('\n'),
    )
    .join('\n')

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]

const headline = (route: ClusterRouteDocument, { controlPlane }: ClusterRoutesDocument): string => {
  const { state, conditions } = route
  switch (state) {
    case 'Unguarded':
      return `is not served before it has the finalizer ${finalizer}`
    case 'Guarded':
      return `${standingWords(conditions)}${doubt(route, controlPlane)}`
    case 'Released':
      return 'is Terminating, and something else than edgewright holds it'
    case 'Terminating': {
      const waits = waitedFor(conditions)
      if (waits === undefined) return `is Terminating, and ${otherReason(conditions)}`
      return `is Terminating, and waits for ${countWaitedFor(waits)} that may still serve it`
    }
  }
}

/** Why the conditions may say what is so no more. */
const doubt = (
  { conditions, generation }: ClusterRouteDocument,
  { state }: ControlPlane,
): string => {
  const accepted = conditions.find(({ type }) => type === 'Accepted')
  if (accepted === undefined) return ''
  if (state === 'Absent' || state === 'Expired')
    return '; so it was when a control plane was last at work'
  return accepted.observedGeneration < generation ? '; its last change is not looked at yet' : ''
}

const otherReason = (conditions: ClusterRouteDocument['conditions']): string => {
  const condition = deprogrammed(conditions)
  if (condition === undefined) return 'does not say yet what it waits for'
  return condition.status === 'True'
    ? `gone from every Envoy; the finalizer ${finalizer} is being taken off`
    : printable(condition.message)
}

const details = (route: ClusterRouteDocument, now: string): ReadonlyArray<string> => {
  const { uid, deletionTimestamp: deleted, finalizers, conditions } = route
  return [
    `uid        ${showName(uid)}`,
    ...(deleted === undefined ? [] : [`deleted    ${showSince(deleted, now)}`]),
    `finalizers ${finalizers.length === 0 ? '-' : finalizers.map(showName).join(', ')}`,
    ...conditions.map(({ type, status, reason, message }, index) => {
      const words = `${type}=${status} ${reason}${message === '' ? '' : `: ${message}`}`
      return `${index === 0 ? 'conditions' : ''.padEnd(10)} ${printable(words)}`
    }),
  ]
}

const advice = (
  route: ClusterRouteDocument,
  { controlPlane }: ClusterRoutesDocument,
  { ownNamespace, words }: Asking,
): ReadonlyArray<string> => {
  const isAtWork = controlPlane.state === 'Live' || controlPlane.state === 'Unknown'
  const name = shellWord(`${route.namespace}/${route.name}`)
  const absence = [
    'Start the control plane: without it nothing is served anew, and nothing is released.',
    `  That of deploy/: kubectl apply -k deploy, and see its Pod: ${kubectlIn(ownNamespace)} get pods`,
    `  Any other, where it ran: edgewright serve${words}`,
  ]
  switch (route.state) {
    case 'Guarded':
      return []
    case 'Unguarded':
      return isAtWork ? [] : absence
    case 'Released':
      return ['See what owns the finalizers that are left.']
    case 'Terminating':
      // No Envoy is waited for any more, and what is missing is a write.
      if (isAtWork && deprogrammed(route.conditions)?.status === 'True') return releaseAdvice
      return [
        ...(isAtWork ? waitingAdvice(route, ownNamespace, words) : absence),
        `If it cannot wait: edgewright break-glass ${name}${words}`,
        '  An Envoy that has not confirmed may go on serving the route after that.',
      ]
  }
}

const kubectlIn = (namespace: string): string => `kubectl --namespace ${shellWord(namespace)}`

const releaseAdvice = [
  'If it stays so, see why the control plane cannot take the finalizer off: its log says it.',
  '  If it lacks a permission: kubectl apply -k deploy',
]

const waitingAdvice = (
  { namespace, name, conditions }: ClusterRouteDocument,
  ownNamespace: string,
  words: string,
): ReadonlyArray<string> => {
  const waits = waitedFor(conditions)
  if (waits === undefined) return []
  const [first] = waits.nodes
  const route = shellWord(`${namespace}/${name}`)
  return [
    'Ask the control plane what each Envoy has said last, and whether it is connected:',
    `  That of deploy/: ${kubectlIn(ownNamespace)} exec deploy/edgewright -- edgewright explain ${route}`,
    `  Any other, on its host: edgewright explain ${route}`,
    ...(first === undefined
      ? []
      : ['If the process of an Envoy is surely gone:', `  ${forgetCommandOf(first, words)}`]),
  ]
}
