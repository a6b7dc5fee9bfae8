import type { ApiRequest } from '../api.js'
import { microTimeOf } from '../objects/micro-time.js'
import { pathTo, type Place, versionOf } from '../objects/places.js'
import { type JsonObject, objectIn, textIn } from '../reflector/index.js'
import { leaseDurationMs, requestDeadlineMs } from './limits.js'

/** The labels of every Lease of ours. */
export const managedBy = { 'app.kubernetes.io/managed-by': 'edgewright' } as const

/** Says of a Lease that `knowsAll`; its value is `true`, and it is absent otherwise. */
export const knowsAllAnnotation = 'net.10xdev.io/knows-all-envoys'

/** What a Lease says. */
export interface LeaseRecord {
  /** Empty if nobody has it. */
  readonly holder: string
  readonly durationMs: number
  /** RFC 3339; empty if it does not say. */
  readonly acquiredAt: string
  /** RFC 3339; empty if it does not say. */
  readonly renewedAt: string
  /** How often it has gone from one to another. */
  readonly transitions: number
  /**
   * Whether its holder, when it wrote this, knew all Envoys that may serve something, and had written them down: the
   * wait of its own start was over, and its roster was saved.
   */
  readonly knowsAll: boolean
}

/** What a contender is to write; how much it knows is asked when it is sent. */
export type LeaseClaim = Omit<LeaseRecord, 'knowsAll'>

/** A Lease as an API server has it. */
export interface SeenLease {
  readonly version: string
  readonly record: LeaseRecord
}

export const leaseIn = (object: JsonObject): SeenLease => {
  const spec = objectIn(object, 'spec')
  const annotations = objectIn(objectIn(object, 'metadata'), 'annotations')
  return {
    version: versionOf(object),
    record: {
      holder: textIn(spec, 'holderIdentity') ?? '',
      durationMs: (countIn(spec, 'leaseDurationSeconds') ?? leaseDurationMs / 1_000) * 1_000,
      acquiredAt: textIn(spec, 'acquireTime') ?? '',
      renewedAt: textIn(spec, 'renewTime') ?? '',
      transitions: countIn(spec, 'leaseTransitions') ?? 0,
      knowsAll: textIn(annotations, knowsAllAnnotation) === 'true',
    },
  }
}

const countIn = (object: JsonObject, key: string): number | undefined => {
  const value = object[key]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** What it says once somebody has taken or renewed it. */
export const heldBy = (
  holder: string,
  before: LeaseRecord | undefined,
  nowMs: number,
): LeaseClaim => {
  const now = microTimeOf(nowMs)
  const isSame = before?.holder === holder
  return {
    holder,
    durationMs: leaseDurationMs,
    acquiredAt: isSame && before.acquiredAt !== '' ? before.acquiredAt : now,
    renewedAt: now,
    transitions: before === undefined ? 0 : before.transitions + (isSame ? 0 : 1),
  }
}

/** What it says once its holder, that knows all or not, has given it back: others need not wait. */
export const givenBack = (before: LeaseRecord, knowsAll: boolean, nowMs: number): LeaseRecord => ({
  ...before,
  holder: '',
  durationMs: 1_000,
  renewedAt: microTimeOf(nowMs),
  // One whose wait has ended while it was ending was there for nobody in that time.
  knowsAll: before.knowsAll && knowsAll,
})

export const readLeaseAt = (place: Place): ApiRequest => ({
  method: 'GET',
  path: pathTo(place),
  deadlineMs: requestDeadlineMs,
  isVital: true,
})

/** Writes it in the place of the state `version`, or where there is none if that is `undefined`. */
export const writeLeaseAt = (
  place: Place,
  record: LeaseRecord,
  version: string | undefined,
): ApiRequest => ({
  method: version === undefined ? 'POST' : 'PUT',
  path: version === undefined ? place.collection : pathTo(place),
  body: {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: place.name,
      labels: managedBy,
      ...(record.knowsAll && { annotations: { [knowsAllAnnotation]: 'true' } }),
      ...(version !== undefined && { resourceVersion: version }),
    },
    spec: {
      holderIdentity: record.holder,
      leaseDurationSeconds: Math.ceil(record.durationMs / 1_000),
      acquireTime: record.acquiredAt,
      renewTime: record.renewedAt,
      leaseTransitions: record.transitions,
    },
  },
  deadlineMs: requestDeadlineMs,
  isVital: true,
})
