import {
  clusterType,
  endpointType,
  listenerType,
  routeType,
  scopeType,
} from '../../src/core/type-url.js'
import type { DiscoveryRequest, Response } from '../../src/core/xds/messages.js'
import type { Judge } from './judge.js'
import type { Link } from './network.js'

/** Watches what goes over the wire. */
export interface Traffic {
  readonly onSend: (link: Link, response: Response) => void
  readonly onReceive: (link: Link, request: DiscoveryRequest) => void
  /** A deletion may ask for every table again. */
  readonly onAcksDemanded: () => void
  /** How many responses were sent so far. */
  readonly sent: () => number
  /** Begins a step: no more than `maxPerStep` responses may come of it. */
  readonly beginStep: () => void
}

/**
 * How many responses one step brings forth at most. A step delivers up to 200 messages, each answered by a handful
 * at most, or lets minutes pass.
 */
const maxPerStep = 1_500

interface Last {
  readonly nonce: string
  readonly content: string
  isAccepted: boolean
  /** Something else was said of this type since: it may have asked for it. */
  isDisturbed: boolean
}

/** Hears what happens, a line each. */
export type Say = (line: string) => void

/** Watches, and tells what is sent and what arrives. */
export const watchTraffic = (judge: Judge, say: Say): Traffic => {
  const links = new WeakMap<Link, Map<string, Last>>()
  let sent = 0
  let sentInStep = 0
  let demands = 0
  const lastOf = (link: Link): Map<string, Last> => {
    const known = links.get(link) ?? new Map<string, Last>()
    links.set(link, known)
    return known
  }
  return {
    onSend: (link, response) => {
      say(`${whereOf(link)} < ${response.nonce} ${contentOf(response, 0)}`)
      sent += 1
      sentInStep += 1
      if (sentInStep > maxPerStep)
        judge.accuse('NothingSentAgain', `${sentInStep} responses in one step`)
      const { typeUrl, nonce } = response
      const content = contentOf(response, typeUrl === routeType ? demands : 0)
      const last = lastOf(link).get(typeUrl)
      if (last?.isAccepted === true && !last.isDisturbed && last.content === content)
        judge.accuse(
          'NothingSentAgain',
          `${link.envoy.options.node.id} has accepted ${content}, and is sent it again`,
        )
      // Endpoints follow their cluster, and scopes their listener, whatever the client has.
      const follower = lastOf(link).get(followers.get(typeUrl) ?? '')
      if (follower !== undefined) follower.isDisturbed = true
      lastOf(link).set(typeUrl, { nonce, content, isAccepted: false, isDisturbed: false })
    },
    onReceive: (link, request) => {
      say(`${whereOf(link)} > ${showRequest(request)}`)
      const last = lastOf(link).get(request.typeUrl)
      if (last === undefined) return
      const isAck =
        request.responseNonce === last.nonce &&
        request.errorDetail === undefined &&
        !last.isAccepted &&
        !asksForMore(request)
      if (isAck) last.isAccepted = true
      else last.isDisturbed = true
    },
    onAcksDemanded: () => {
      demands += 1
    },
    sent: () => sent,
    beginStep: () => {
      sentInStep = 0
    },
  }
}

const followers: ReadonlyMap<string, string> = new Map([
  [clusterType, endpointType],
  [listenerType, scopeType],
])

const whereOf = ({ envoy, id }: Link): string => `${envoy.options.node.id} on ${id}`

const shortOf = (typeUrl: string): string => typeUrl.slice(typeUrl.lastIndexOf('.') + 1)

const showRequest = (request: DiscoveryRequest): string =>
  [
    shortOf(request.typeUrl),
    request.responseNonce === '' ? 'first' : request.responseNonce,
    ...(request._tag === 'Sotw'
      ? [request.resourceNames.join(), `version ${request.versionInfo}`]
      : [
          ...request.subscribe.map((name) => `+${name}`),
          ...request.unsubscribe.map((name) => `-${name}`),
          ...[...request.initialResourceVersions].map(([name, version]) => `${name}=${version}`),
        ]),
    ...(request.errorDetail ? [`refuses: ${request.errorDetail.message}`] : []),
  ].join(' ')

const asksForMore = (request: DiscoveryRequest): boolean =>
  request._tag === 'Delta' && request.subscribe.length + request.unsubscribe.length > 0

const contentOf = ({ typeUrl, resources, removed }: Response, round: number): string =>
  [
    shortOf(typeUrl),
    ...resources.map(({ name, version }) => `${name}@${version}`),
    ...removed.map((name) => `-${name}`),
    ...(round > 0 ? [`round ${round}`] : []),
  ].join(' ')
