import { createHash } from 'node:crypto'
import type { ApiRequest } from '../api.js'
import { pathOf } from '../informers/index.js'
import { microTimeOf } from '../objects/micro-time.js'
import type { ClusterEvent } from './cluster-event.js'
import { keyOfEvent, type Told } from './series.js'

const events = { api: '/apis/events.k8s.io/v1', plural: 'events' }

/** Who tells of something, by the name under which people find it. */
export const reportingController = 'net.10xdev.io/edgewright'

/** How long a request may take, in milliseconds: an event that comes late helps nobody. */
const deadlineMs = 5_000

/** What an API server takes, in bytes, and of the name of whoever tells of it in characters. */
const maxNoteBytes = 1_024
const maxInstance = 128

/** A name of at most 253 characters that nobody else has: two events of one moment differ in what they say. */
export const nameOfEvent = (event: ClusterEvent, identity: string, nowMs: number): string => {
  const digest = createHash('sha256')
    .update(`${identity} ${nowMs} ${keyOfEvent(event)}`)
    .digest('hex')
  return `${event.regarding.name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${digest.slice(0, 16)}`
}

/** Tells of it for the first time. */
export const createEvent = (
  event: ClusterEvent,
  name: string,
  identity: string,
  nowMs: number,
): ApiRequest => {
  const { regarding, type, reason, action, note } = event
  return {
    method: 'POST',
    path: pathOf(events, regarding.namespace),
    body: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: regarding.namespace },
      eventTime: microTimeOf(nowMs),
      reportingController,
      reportingInstance: identity.slice(0, maxInstance),
      ...{ regarding, type, reason, action, note: cutBytes(note) },
    },
    deadlineMs,
  }
}

/** Counts it once more. */
export const countEvent = (
  { name, namespace }: Told,
  count: number,
  nowMs: number,
): ApiRequest => ({
  method: 'PATCH',
  path: `${pathOf(events, namespace)}/${encodeURIComponent(name)}`,
  contentType: 'application/merge-patch+json',
  body: { series: { count, lastObservedTime: microTimeOf(nowMs) } },
  deadlineMs,
})

const cutBytes = (text: string): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxNoteBytes) return text
  const ellipsis = '…'
  // A character that is cut in two decodes to a replacement character.
  const head = bytes.subarray(0, maxNoteBytes - Buffer.byteLength(ellipsis)).toString()
  return head.replace(/\uFFFD$/, '') + ellipsis
}
