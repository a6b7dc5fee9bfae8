import { showTypeUrl } from '../core/type-url.js'
import type { NodeIdentity, Variant } from '../core/xds/messages.js'
import type { Logger, LogValue } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'
import type { XdsEvent, XdsObserver } from '../ports/xds-observer.js'

/**
 * Makes an observer that logs what happens on xDS streams, and counts it.
 *
 * Envoys that come and go are logged at `info`, refusals and strangers at `warn`, each response and
 * its ACK at `debug`. Keeps one small record per open stream.
 */
export const observeXds = (logger: Logger, metrics: Metrics): XdsObserver => {
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
    report(logger, event, { stream: event.stream, node: record?.node?.id })
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
    case 'NodeIdentified':
      if (!event.known) metrics.add('edgewright_xds_unknown_data_plane_total', {}, 1)
      return
    case 'StreamOpened':
    case 'StreamClosed':
      return
  }
}

const report = (
  { log }: Logger,
  event: XdsEvent,
  who: Readonly<Record<string, LogValue>>,
): void => {
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
        error: cut(event.error.message),
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

/**
 * Envoy's message may hold a dump of 4 KB with the reason at its end, or a short reason: of a long
 * one the first and the last characters are kept.
 */
const keptHead = 200
const keptTail = 400

const cut = (message: string): string =>
  message.length <= keptHead + keptTail
    ? message
    : `${message.slice(0, keptHead)} … ${message.slice(-keptTail)}`
