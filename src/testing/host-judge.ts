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
  const envoys = new Map<MemoryEnvoy, EnvoyState | undefined>()
  const forgotten = new Set<MemoryEnvoy>()
  const excused = new Set<Uid>()
  const found = new Map<string, Violation>()
  const accuse = (violation: Violation): void => {
    const key = `${violation.law} ${violation.message}`
    if (!found.has(key)) found.set(key, violation)
  }
  const servers = (uid: Uid): ReadonlyArray<string> =>
    excused.has(uid)
      ? []
      : [...envoys.keys()]
          .filter((envoy) => !forgotten.has(envoy) && objects.at(envoy.state()).includes(uid))
          .map((envoy) => envoy.state().options.node.id)
  const releases = watchReleases(api, servers)
  const stored = new Set<Uid>()
  api.observe(({ object }) => void stored.add(object.metadata.uid))
  const lookAt = (envoy: MemoryEnvoy, state: EnvoyState): void => {
    if (state.connected) forgotten.delete(envoy)
    unknownClusters(state).forEach(accuse)
    const who = state.options.node.id
    const say = (law: Law, message: string): void => {
      accuse({ law, message })
    }
    for (const uid of objects.at(state)) {
      if (stored.has(uid) && !releases.guarded.has(uid))
        say('FinalizerFirst', `${who} serves ${uid}, which never had the finalizer`)
      if (releases.released.has(uid) && !forgotten.has(envoy) && !excused.has(uid))
        say('NotServed', `${who} serves ${uid}, which was released`)
    }
  }
  return {
    onPublish: (snapshot) => {
      objects.note(snapshot)
      openReferences(snapshot).forEach(accuse)
    },
    onConnect: (envoy) => void envoys.set(envoy, undefined),
    onForgotten: (id) => {
      for (const envoy of envoys.keys()) {
        const { connected, options } = envoy.state()
        if (!connected && options.node.id === id) forgotten.add(envoy)
      }
    },
    excuse: (uids) => {
      for (const uid of uids) excused.add(uid)
    },
    look: () => {
      for (const [envoy, before] of envoys) {
        const state = envoy.state()
        if (state === before) continue
        envoys.set(envoy, state)
        lookAt(envoy, state)
      }
    },
    servedAt: objects.at,
    violations: () => [...found.values(), ...releases.violations()],
  }
}
