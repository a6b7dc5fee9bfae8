import { cutMessage } from '../core/cut-message.js'
import type { Uid } from '../core/resource.js'
import { showTypeUrl } from '../core/type-url.js'
import type { NodeIdentity, Variant } from '../core/xds/messages.js'
import type { Logger, LogValue } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'
import type { XdsEvent, XdsObserver } from '../ports/xds-observer.js'

export interface ObserveOptions {
  /** The name of an object, where it is known: what Envoys refuse is told by uid otherwise. */
  readonly nameOf?: (uid: Uid) => string | undefined
}

/**
 * Makes an observer that logs what happens on xDS streams, and counts it.
 *
 * Envoys that come and go are logged at `info`, refusals and strangers at `warn`, each response and
 * its ACK at `debug`. Keeps one small record per open stream.
 */
export const observeXds = (
  logger: Logger,
  metrics: Metrics,
  { nameOf = (): undefined => undefined }: ObserveOptions = {},
): XdsObserver => {
  const streams = new Map<string, StreamRecord>()
  const gauge = (variant: Variant): void => {
    const open = [...streams.values()].filter((each) => each.variant === variant).length
    metrics.set('edgewright_xds_streams', { variant }, open)
  }
  return (event) => {
    const before = streams.get(event.stream)
    if (event._tag === 'StreamOpened') streams.set(event.stream, { ...event, node: undefined })
    if (event._tag === 'NodeIdentified' && before !== undefined)
      streams.set(event.stream, { ...before, node: event.node })
    const record = streams.get(event.stream)
    if (event._tag === 'StreamClosed') streams.delete(event.stream)
    if (event._tag === 'StreamOpened' || event._tag === 'StreamClosed')
      if (record !== undefined) gauge(record.variant)
    count(metrics, event)
    const who = { stream: event.stream, node: record?.node?.id }
    if (event._tag === 'RefusalFound') reportRefusal(logger, event, who, nameOf)
    else report(logger, event, who)
  }
}

interface StreamRecord {
  readonly variant: Variant
  readonly node: NodeIdentity | undefined
}

const count = (metrics: Metrics, event: XdsEvent): void => {
  switch (event._tag) {
    case 'ResponseSent': {
      const labels = { type: showTypeUrl(event.typeUrl) }
      metrics.add('edgewright_xds_responses_total', labels, 1)
      metrics.add('edgewright_xds_response_bytes_total', labels, event.bytes)
      return
    }
    case 'ResponseAcked':
      return metrics.add('edgewright_xds_acks_total', { type: showTypeUrl(event.typeUrl) }, 1)
    case 'ResponseNacked':
      return metrics.add('edgewright_xds_nacks_total', { type: showTypeUrl(event.typeUrl) }, 1)
    case 'RefusalFound':
      return metrics.add('edgewright_xds_refusals_total', { type: showTypeUrl(event.typeUrl) }, 1)
    case 'NodeIdentified':
      if (!event.known) metrics.add('edgewright_xds_unknown_data_plane_total', {}, 1)
      return
    case 'StreamOpened':
    case 'StreamClosed':
      return
  }
}

/** Who an event is about. */
type Who = Readonly<Record<string, LogValue>>

const report = ({ log }: Logger, event: Exclude<XdsEvent, Refusal>, who: Who): void => {
  switch (event._tag) {
    case 'StreamOpened':
      return log('info', 'an Envoy has connected', {
        ...who,
        peer: event.peer,
        variant: event.variant,
      })
    case 'NodeIdentified': {
      const fields = { ...who, dataPlane: event.dataPlane, version: showVersion(event.node) }
      return event.known
        ? log('info', 'the Envoy has said who it is', fields)
        : log('warn', unknownDataPlane, fields)
    }
    case 'ResponseSent':
      return log('debug', 'sent', {
        ...who,
        ...about(event),
        resources: event.resources,
        removed: event.removed,
        bytes: event.bytes,
      })
    case 'ResponseAcked':
      return log('debug', 'ACK', { ...who, ...about(event) })
    case 'ResponseNacked':
      return log('warn', 'NACK: the Envoy refuses this, and keeps what it had', {
        ...who,
        ...about(event),
        error: cutMessage(event.error.message),
      })
    case 'StreamClosed':
      return log('info', 'the stream has ended', { ...who, reason: event.reason })
  }
}

/** `dataPlane` stands beside it; which ones there are only the configuration can say. */
const unknownDataPlane =
  'the Envoy is of a data plane that is not known, and gets nothing: compare its node.cluster ' +
  '(node.id where that is empty) with --data-plane, or with the data planes of the context'

type Exchange = Extract<XdsEvent, { readonly _tag: `Response${string}` }>

const about = ({ typeUrl, nonce, version }: Exchange): Readonly<Record<string, LogValue>> => ({
  type: showTypeUrl(typeUrl),
  nonce,
  version,
})

const showVersion = ({ buildVersion }: NodeIdentity): string | undefined =>
  buildVersion && `${buildVersion.major}.${buildVersion.minor}.${buildVersion.patch}`

type Refusal = Extract<XdsEvent, { readonly _tag: 'RefusalFound' }>

/** How many objects are named; the rest is counted. A cluster may belong to thousands. */
const maxNamedObjects = 8

const reportRefusal = (
  { log }: Logger,
  { typeUrl, name, owners, message }: Refusal,
  who: Who,
  nameOf: (uid: Uid) => string | undefined,
): void => {
  log('warn', 'the Envoy refuses this, and goes on with its last good form, or without', {
    ...who,
    type: showTypeUrl(typeUrl),
    name,
    objects: showOwners(owners, nameOf),
    error: cutMessage(message),
  })
}

/** The objects of something that is refused, by name where that is known; `undefined` if it has none. */
export const showOwners = (
  owners: ReadonlyArray<Uid>,
  nameOf: (uid: Uid) => string | undefined,
): string | undefined => {
  if (owners.length === 0) return undefined
  const names = owners.slice(0, maxNamedObjects).map((uid) => nameOf(uid) ?? uid)
  const others = owners.length - names.length
  return `${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}
