import type { Change, Write } from '../../src/adapters/memory/api-server/index.js'
import type { FormLimits } from '../../src/core/form-choice.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import { startWaitMs } from '../../src/core/start-gate.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import { routeType } from '../../src/core/type-url.js'
import type { SourceState } from '../../src/ports/route-source.js'
import type { Api } from './api.js'
import type { SteppingClock } from './clock.js'
import type { Disk } from './disk.js'
import type { Envoy, Link } from './network.js'
import type { Law, Violation } from './laws.js'
import type { Random } from './random.js'
import { nothingServed, partsOf, type Serving, servingOf } from './serving.js'

export interface Judge {
  readonly violation: () => Violation | undefined
  readonly accuse: (law: Law, message: string) => void
  /** Looks at what the Envoys serve, if that has changed. */
  readonly onEnvoyChange: (envoy: Envoy) => void
  readonly onProcess: (envoy: Envoy) => void
  /** The control plane has heard from it. */
  readonly onHeard: (envoy: Envoy) => void
  /** It connects anew without a word of what it holds. */
  readonly onLoseVersions: (envoy: Envoy) => void
  readonly onObjectChange: (change: Change) => void
  /** What a process of the control plane is shown; it is to be told of each anew. */
  readonly onSourceState: (state: SourceState) => void
  readonly onPublish: (snapshot: Snapshot) => void
  readonly onTablesSent: (link: Link) => void
  readonly onAcksDemanded: (isOn: boolean) => void
  readonly onPlaneStart: () => void
  /** The control plane asks for this: it may take effect much later. */
  readonly onAsked: (write: Write) => void
  /** A person has said that the Envoys of this id that are not connected count no more. */
  readonly onForgotten: (id: string) => void
  /** A person wants this object gone, whatever the Envoys say. */
  readonly excuse: (uid: string) => void
  readonly servedBy: (envoy: Envoy) => ReadonlySet<string>
}

/** How long the workers of an Envoy take at most until they do what its main thread has accepted, in milliseconds. */
const slowestWorkerMs = 80

/** What is known of one Envoy process. */
interface Watched {
  parts: ReadonlyArray<unknown>
  serving: Serving
  /** What its workers may go on with, and until when. */
  readonly leaving: Map<string, number>
  /** What was released although it served it, since nobody answers for it: a person, or the roster, has lost it. */
  readonly pardoned: Set<string>
  /** From when on nobody answers for it, in milliseconds, as long as it does not connect. */
  lostFromMs: number
  /**
   * The tables of which no process of the control plane that is there now knows what they name. In the state of the
   * world a response with clusters then takes away what they name: which clusters it holds a client does not say.
   */
  strange: ReadonlyMap<string, Uint8Array>
}

export interface Scene {
  readonly clock: SteppingClock
  readonly formLimits: FormLimits | undefined
  readonly random: Random
  readonly api: Api
  readonly disk: Disk
}

/** Watches over the laws. The Envoys' own state is the judge of what they serve, never a ledger. */
export const makeJudge = (
  { clock, random, api, disk }: Scene,
  envoys: () => ReadonlyArray<Envoy>,
  onAcksDemanded: () => void,
): Judge => {
  let violation: Violation | undefined
  const watched = new Map<Envoy, Watched>()
  const released = new Set<string>()
  const excused = new Set<string>()
  const shownGuarded = new Set<string>()
  const entrusted = new Set<string>()
  /** Who was entrusted with tables when it was last asked that an object be let go, by uid. */
  const asked = new Map<string, ReadonlySet<string>>()
  let shownDeleted = new Set<string>()
  let shown: ReadonlyMap<string, StoredObject> = new Map()
  let serving: ReadonlySet<string> = new Set()
  let shownValid: ReadonlySet<string> = new Set()
  let troublesAtStart = 0

  const accuse = (law: Law, message: string): void => {
    violation ??= { law, message }
  }
  const of = (envoy: Envoy): Watched => {
    const found = watched.get(envoy)
    if (found !== undefined) return found
    const fresh = newcomer()
    watched.set(envoy, fresh)
    return fresh
  }
  const mayServe = (envoy: Envoy, mark: string): boolean => {
    const { serving, leaving } = of(envoy)
    if (envoy.state === undefined) return false
    return serving.marks.has(mark) || (leaving.get(mark) ?? 0) > clock.nowMs()
  }
  /** Of one id whose Envoys were never heard at once, or a crash came before that was written, nobody knows. */
  const isHidden = (envoy: Envoy): boolean =>
    !envoy.isKnownTwin &&
    !disk.shared().has(envoy.options.node.id) &&
    envoys().some((other) => other !== envoy && other.options.node.id === envoy.options.node.id)
  const enter = (envoy: Envoy, mark: string): void => {
    const uid = api.uidOf(mark) ?? ''
    const who = envoy.options.node.id
    if (!shownGuarded.has(uid)) accuse('FinalizerFirst', `${who} serves ${mark} (${uid})`)
    if (released.has(uid) && !of(envoy).pardoned.has(mark))
      accuse('GoneForEver', `${who} serves ${mark} (${uid}) again`)
  }
  const onRelease = ({ metadata }: Change['object']): void => {
    const { uid } = metadata
    if (api.isPersonWriting()) excused.add(uid)
    if (excused.has(uid)) return
    if (metadata.deletionTimestamp === undefined)
      accuse('OnlyTheDeleted', `${metadata.name} (${uid}) is released while it is there`)
    released.add(uid)
    const mark = api.markOf(uid) ?? ''
    const serving = envoys().filter((envoy) => mayServe(envoy, mark))
    const servers = serving.filter(
      (envoy) => of(envoy).lostFromMs > clock.nowMs() && !isHidden(envoy),
    )
    for (const envoy of serving) of(envoy).pardoned.add(mark)
    if (servers.length > 0)
      accuse(
        'GoneBeforeReleased',
        `${metadata.name} ${mark} (${uid}) is released while ${servers.map(({ options }) => options.node.id).join()} may serve it`,
      )
    for (const id of asked.get(uid) ?? entrusted)
      if (!disk.ids().has(id))
        accuse('RosterFirst', `${mark} is released while ${id} is not on the roster`)
  }
  return {
    violation: () => violation,
    accuse,
    onEnvoyChange: (envoy) => {
      if (envoy.state === undefined) return
      const known = of(envoy)
      const parts = partsOf(envoy.state)
      if (parts.every((part, index) => part === known.parts[index])) return
      const before = known.serving.marks
      known.parts = parts
      known.serving = servingOf(envoy.state)
      const { marks, dangling } = known.serving
      for (const mark of before)
        if (!marks.has(mark)) {
          known.leaving.set(mark, clock.nowMs() + random.below(slowestWorkerMs + 1))
          known.pardoned.delete(mark)
        }
      for (const mark of marks) if (!before.has(mark)) enter(envoy, mark)
      const isSotw = envoy.options.variant === 'sotw'
      for (const { table, cluster } of dangling)
        if (!(isSotw && isStrange(envoy, known, table)))
          accuse('NoDanglingCluster', `${table} of ${envoy.options.node.id} names ${cluster}`)
    },
    onProcess: (envoy) => {
      watched.set(envoy, newcomer())
    },
    onHeard: (envoy) => {
      of(envoy).lostFromMs = Infinity
    },
    onLoseVersions: (envoy) => estrange(envoy, of(envoy)),
    onObjectChange: ({ type, object, before }) => {
      const had = before?.metadata.finalizers?.includes(finalizer) === true
      const has = type !== 'DELETED' && object.metadata.finalizers?.includes(finalizer) === true
      if (had && !has) onRelease(object)
      const own = before?.metadata.finalizers ?? []
      const others = own.filter((each) => each !== finalizer)
      // What is gone is told as it was last.
      const left = type === 'DELETED' ? [] : (object.metadata.finalizers ?? [])
      const areKept = others.every((each) => left.includes(each))
      if (!api.isPersonWriting() && !areKept)
        accuse('OthersUntouched', `${object.metadata.name} loses ${others.join()}`)
    },
    onSourceState: ({ objects = [], routes }) => {
      shownValid = new Set(routes.map(({ metadata }) => metadata.uid))
      shown = new Map(objects.map((object) => [object.uid, object]))
      for (const { uid, finalizers, deletionTimestamp } of objects) {
        if (finalizers.includes(finalizer)) shownGuarded.add(uid)
        if (deletionTimestamp !== undefined) shownDeleted.add(uid)
      }
    },
    onPublish: (snapshot) => {
      const owners = ownersIn(snapshot)
      const live = api.server
        .list()
        .items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      // A source may say once more that a route was not valid yet.
      const isLost = ({ uid }: { readonly uid: string }): boolean =>
        serving.has(uid) && (shownValid.has(uid) || !shown.has(uid))
      if (owners.size === 0 && live.some(({ metadata }) => isLost(metadata)))
        accuse('NothingLiveWithdrawn', 'nothing is published any more')
      serving = owners
      for (const uid of owners) {
        if (!shownGuarded.has(uid)) accuse('FinalizerFirst', `${uid} is published`)
        const object = shown.get(uid)
        if (object === undefined || object.deletionTimestamp !== undefined || shownDeleted.has(uid))
          accuse('NothingDeletedPublished', `${uid} is published`)
      }
    },
    onTablesSent: ({ envoy }) => {
      const { id } = envoy.options.node
      if (!disk.ids().has(id) && disk.troubles() === troublesAtStart)
        accuse('RosterFirst', `${id} is sent route tables`)
      entrusted.add(id)
    },
    onAcksDemanded: (isOn) => {
      if (isOn) onAcksDemanded()
    },
    onPlaneStart: () => {
      shownDeleted = new Set()
      shown = new Map()
      serving = new Set()
      troublesAtStart = disk.troubles()
      entrusted.clear()
      for (const envoy of envoys()) estrange(envoy, of(envoy))
      const ids = disk.ids()
      // Whom a crash has kept from the roster is waited for, and no longer; by a roster that names others not at all.
      const lostFromMs = clock.nowMs() + (ids.size === 0 ? startWaitMs : 0)
      for (const envoy of envoys())
        if (!ids.has(envoy.options.node.id)) of(envoy).lostFromMs = lostFromMs
    },
    onForgotten: (id) => {
      for (const envoy of envoys())
        if (envoy.options.node.id === id && envoy.link?.isHeard !== true) {
          of(envoy).lostFromMs = 0
          estrange(envoy, of(envoy))
        }
      entrusted.delete(id)
      asked.clear()
    },
    onAsked: (write) => {
      if (write._tag !== 'Patch' || write.subresource !== undefined) return
      const uid = api.server.get(write.key)?.metadata.uid
      if (uid !== undefined) asked.set(uid, new Set(entrusted))
    },
    excuse: (uid) => void excused.add(uid),
    servedBy: (envoy) => of(envoy).serving.marks,
  }
}

const newcomer = (): Watched => ({
  parts: [],
  serving: nothingServed,
  leaving: new Map(),
  pardoned: new Set(),
  lostFromMs: Infinity,
  strange: new Map(),
})

const estrange = (envoy: Envoy, known: Watched): void => {
  // Also those that wait for others before they are served.
  const tables = envoy.state?.watches[routeType].held ?? []
  known.strange = new Map([...tables].map(([name, { bytes }]) => [name, bytes]))
}

/** It still has the table that it had then: what was sent since it has not taken. */
const isStrange = (envoy: Envoy, { strange }: Watched, table: string): boolean =>
  strange.has(table) && strange.get(table) === tableOf(envoy, table)

const tableOf = ({ state }: Envoy, name: string): Uint8Array | undefined =>
  state?.watches[routeType].held.get(name)?.bytes

export const ownersIn = ({ dataPlanes }: Snapshot): ReadonlySet<string> =>
  new Set(
    [...dataPlanes.values()].flatMap((view) =>
      [...PM.entries(view[routeType])].flatMap(({ owners }) => owners),
    ),
  )
