import type { EnvoyState, MemoryApiServer, MemoryEnvoy } from '../adapters/memory/index.js'
import type { Uid } from '../core/resource.js'
import type { Snapshot } from '../core/snapshot.js'
import { unknownClusters } from './invariants/envoys.js'
import { watchReleases } from './invariants/releases.js'
import { servedObjects } from './invariants/served-objects.js'
import { openReferences } from './invariants/snapshots.js'
import type { Law, Violation } from './invariants/violation.js'

/** Watches over a host, its API server and its Envoys. */
export interface HostJudge {
  readonly onPublish: (snapshot: Snapshot) => void
  readonly onConnect: (envoy: MemoryEnvoy) => void
  /** Somebody has had the Envoys of this id forgotten: they do not count until they connect again. */
  readonly onForgotten: (id: string) => void
  /** Somebody wants these objects gone, whatever the Envoys say. */
  readonly excuse: (uids: Iterable<Uid>) => void
  /** Looks at the Envoys that have changed. */
  readonly look: () => void
  readonly servedAt: (envoy: EnvoyState) => ReadonlyArray<Uid>
  readonly violations: () => ReadonlyArray<Violation>
}

/** The judge of what an Envoy serves is its own state, never a ledger. */
export const hostJudge = (api: MemoryApiServer): HostJudge => {
  const objects = servedObjects()
  const envoys = envoysInView()
  const excused = new Set<Uid>()
  const found = findings()
  const servers = (uid: Uid): ReadonlyArray<string> =>
    excused.has(uid)
      ? []
      : envoys
          .counting()
          .filter((envoy) => objects.at(envoy.state()).includes(uid))
          .map((envoy) => envoy.state().options.node.id)
  const releases = watchReleases(api, servers)
  const stored = new Set<Uid>()
  api.observe(({ object }) => void stored.add(object.metadata.uid))
  const judge = (state: EnvoyState, counts: boolean): void => {
    unknownClusters(state).forEach(found.add)
    const who = state.options.node.id
    for (const uid of objects.at(state)) {
      if (stored.has(uid) && !releases.guarded.has(uid))
        found.say('FinalizerFirst', `${who} serves ${uid}, which never had the finalizer`)
      if (releases.released.has(uid) && counts && !excused.has(uid))
        found.say('NotServed', `${who} serves ${uid}, which was released`)
    }
  }
  return {
    onPublish: (snapshot) => {
      objects.note(snapshot)
      openReferences(snapshot).forEach(found.add)
    },
    onConnect: envoys.add,
    onForgotten: envoys.forget,
    excuse: (uids) => {
      for (const uid of uids) excused.add(uid)
    },
    look: () => envoys.look(judge),
    servedAt: objects.at,
    violations: () => [...found.all(), ...releases.violations()],
  }
}

/** The Envoys that are judged. */
interface EnvoysInView {
  readonly add: (envoy: MemoryEnvoy) => void
  /** Those of this id that are not connected do not count until they are. */
  readonly forget: (id: string) => void
  readonly counting: () => ReadonlyArray<MemoryEnvoy>
  /** Hands over each that has changed since the last look, and whether it counts. */
  readonly look: (judge: (state: EnvoyState, counts: boolean) => void) => void
}

const envoysInView = (): EnvoysInView => {
  const envoys = new Map<MemoryEnvoy, EnvoyState | undefined>()
  const forgotten = new Set<MemoryEnvoy>()
  return {
    add: (envoy) => void envoys.set(envoy, undefined),
    forget: (id) => {
      for (const envoy of envoys.keys()) {
        const { connected, options } = envoy.state()
        if (!connected && options.node.id === id) forgotten.add(envoy)
      }
    },
    counting: () => [...envoys.keys()].filter((envoy) => !forgotten.has(envoy)),
    look: (judge) => {
      for (const [envoy, before] of envoys) {
        const state = envoy.state()
        if (state === before) continue
        envoys.set(envoy, state)
        if (state.connected) forgotten.delete(envoy)
        judge(state, !forgotten.has(envoy))
      }
    },
  }
}

interface Findings {
  /** What was found before is not found again. */
  readonly add: (violation: Violation) => void
  readonly say: (law: Law, message: string) => void
  readonly all: () => ReadonlyArray<Violation>
}

const findings = (): Findings => {
  const found = new Map<string, Violation>()
  const add = (violation: Violation): void => {
    const key = `${violation.law} ${violation.message}`
    if (!found.has(key)) found.set(key, violation)
  }
  return {
    add,
    say: (law, message) => add({ law, message }),
    all: () => [...found.values()],
  }
}
