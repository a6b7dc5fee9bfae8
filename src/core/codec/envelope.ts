import { apiVersion, type EdgeRouteSpec, kind } from '../edge-route.js'
import { checkDnsLabel, checkObjectName } from './check/names.js'
import { anything, integer, text } from './leaves.js'
import { exactly } from './exactly.js'
import { type Codec, list, record } from './record.js'
import { show } from './show.js'
import { specCodec } from './spec.js'
import { parseTimestamp } from './timestamp.js'

/** What an object of kind EdgeRoute has, as it stands in a file or at an API server. */
export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: EnvelopeMetadata
  readonly spec: EdgeRouteSpec
  readonly status?: unknown
}

/** The other fields of Kubernetes' ObjectMeta, which say nothing about routing. */
export interface IgnoredMetadata {
  readonly annotations?: unknown
  readonly deletionGracePeriodSeconds?: unknown
  readonly generateName?: unknown
  readonly labels?: unknown
  readonly managedFields?: unknown
  readonly ownerReferences?: unknown
  readonly resourceVersion?: unknown
  readonly selfLink?: unknown
}

export interface EnvelopeMetadata extends IgnoredMetadata {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly finalizers?: ReadonlyArray<string>
}

/** More than Kubernetes objects have in practice; each is a controller that must let go. */
const maxFinalizers = 256

const timestamp = text((value) =>
  parseTimestamp(value) === undefined
    ? `must be a time such as "2026-01-31T12:00:00Z", not ${show(value)}`
    : undefined,
)

const nonEmpty = text((value) => (value === '' ? 'must not be empty' : undefined))

/** What the metadata of an EdgeRoute must be. */
export const metadataCodec: Codec<EnvelopeMetadata> = exactly<EnvelopeMetadata>()(
  record(
    'an object with name and namespace',
    { name: text(checkObjectName) },
    {
      namespace: text(checkDnsLabel),
      uid: nonEmpty,
      generation: integer(0, Number.MAX_SAFE_INTEGER),
      creationTimestamp: timestamp,
      deletionTimestamp: timestamp,
      finalizers: list(nonEmpty, { min: 0, max: maxFinalizers, of: 'finalizers' }),
      annotations: anything,
      deletionGracePeriodSeconds: anything,
      generateName: anything,
      labels: anything,
      managedFields: anything,
      ownerReferences: anything,
      resourceVersion: anything,
      selfLink: anything,
    },
  ),
)

const onlyText = (right: string): Codec<string> =>
  text((value) => (value === right ? undefined : `must be ${show(right)}, not ${show(value)}`))

/** What says that an object is an EdgeRoute: without it, nothing else of the object is looked at. */
export const kindCodec: Codec<{ readonly apiVersion: string; readonly kind: string }> = record(
  'an object with apiVersion, kind, metadata and spec',
  { apiVersion: onlyText(apiVersion), kind: onlyText(kind) },
  {},
)

export const envelopeCodec: Codec<Envelope> = exactly<Envelope>()(
  record(
    'an object with apiVersion, kind, metadata and spec',
    {
      apiVersion: onlyText(apiVersion),
      kind: onlyText(kind),
      metadata: metadataCodec,
      spec: specCodec,
    },
    { status: anything },
  ),
)
