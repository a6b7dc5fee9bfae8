import type { Law } from './laws.js'

/** A bug that is planted in the sources to see that the simulation finds it. */
export interface Plant {
  readonly name: string
  /** The law that it breaks. */
  readonly law: Law
  readonly patches: ReadonlyArray<Patch>
}

/** A text in a source file, there exactly once, and what stands in its place. */
export interface Patch {
  readonly file: string
  readonly find: string
  readonly replace: string
}

const plant = (name: string, law: Law, file: string, find: string, replace: string): Plant => ({
  name,
  law,
  patches: [{ file, find, replace }],
})

const owed = `  if (owed.length > 0) return`

export const plants: ReadonlyArray<Plant> = [
  plant(
    'releases-on-publish',
    'GoneBeforeReleased',
    'core/evidence.ts',
    owed,
    '  if (owed.length < 0) return',
  ),
  plant(
    'releases-on-the-first-ack',
    'GoneBeforeReleased',
    'core/evidence.ts',
    owed,
    '  if (owed.length > 0 && owed.length >= ledger.nodes.length) return',
  ),
  plant(
    'takes-the-ack-of-another-type',
    'GoneBeforeReleased',
    'core/ledger.ts',
    `  const onItsWay = inFlight[routeType] ?? []`,
    `  if (Object.entries(inFlight).some(([type, out]) => type.endsWith('Listener') && out.length === 0))
    return false
  const onItsWay = inFlight[routeType] ?? []`,
  ),
  plant(
    'forgets-what-is-on-its-way',
    'GoneBeforeReleased',
    'core/ledger.ts',
    `  const onItsWay = inFlight[routeType] ?? []`,
    `  const onItsWay = inFlight[routeType]?.slice(0, 0) ?? []`,
  ),
  plant(
    'forgets-a-lost-node-at-once',
    'GoneBeforeReleased',
    'core/ledger.ts',
    `filter(({ name, isShared }) => isShared || !ids.has(name))`,
    `filter(({ name, isShared }) => isShared && !ids.has(name))`,
  ),
  plant(
    'takes-two-of-one-id-for-one',
    'GoneBeforeReleased',
    'core/ledger.ts',
    `filter(({ name, isShared }) => isShared || !ids.has(name))`,
    `filter(({ name }) => !ids.has(name))`,
  ),
  plant(
    'takes-everyone-for-fresh',
    'GoneBeforeReleased',
    'core/xds/node-memory.ts',
    `  watches[routeType] === undefined &&
  !isBare &&`,
    `  watches[routeType] === undefined &&
  freshness === 'Held' &&
  !isBare &&`,
  ),
  plant(
    'goes-by-names-in-place-of-uids',
    'GoneBeforeReleased',
    'core/deletions.ts',
    `  uid: object.uid,
  generation: object.generation,`,
    `  uid: object.key.name,
  generation: object.generation,`,
  ),
  plant(
    'serves-before-the-finalizer',
    'FinalizerFirst',
    'core/deletion.ts',
    `      return isGuarded
        ? {`,
    `      return isGuarded !== undefined
        ? {`,
  ),
  plant(
    'does-not-settle',
    'GoneBeforeReleased',
    'core/deletion.ts',
    `export const settleMs = 100`,
    `export const settleMs = 0`,
  ),
  plant(
    'admits-before-the-roster-is-written',
    'RosterFirst',
    'core/roster/keeping.ts',
    `  if (change > state.saved && !state.isFailing)`,
    `  if (change > state.saved && state.saved < 0)`,
  ),
  plant(
    'releases-before-the-roster-is-written',
    'RosterFirst',
    'host/keep-roster.ts',
    `      return message === undefined ||`,
    `      return message !== null ||`,
  ),
  plant(
    'does-not-wait-after-a-start',
    'GoneBeforeReleased',
    'core/start-gate.ts',
    `return areSourcesRead && isOver ?`,
    `return areSourcesRead || isOver ?`,
  ),
  plant(
    'starts-with-an-empty-roster',
    'GoneBeforeReleased',
    'host/load-roster.ts',
    `    if (E.isRight(loaded)) return loaded.right`,
    `    if (E.isRight(loaded)) return new Map()`,
  ),
  plant(
    'lets-a-late-sighting-resurrect',
    'NothingDeletedPublished',
    'core/deletion.ts',
    `      return state
  }
}

const terminating`,
    `      return { _tag: 'Serving', isGuarded: true, failure: undefined }
  }
}

const terminating`,
  ),
  plant(
    'takes-a-lost-watch-for-deletions',
    'NothingLiveWithdrawn',
    'adapters/memory/api-server/reflector.ts',
    `  const state = { ...before, troubles: before.troubles + 1 }`,
    `  const state = { ...before, troubles: before.troubles + 1, objects: undefined }`,
  ),
  plant(
    'breaks-before-it-makes',
    'NoDanglingCluster',
    'core/xds/plan-tables.ts',
    `    unready.pending.size === 0 &&`,
    `    unready.pending.size >= 0 ||`,
  ),
  plant(
    'takes-all-finalizers-off',
    'OthersUntouched',
    'adapters/memory/api-server/route-store.ts',
    `{ op: 'remove', path }`,
    `{ op: 'remove', path: '/metadata/finalizers' }`,
  ),
  plant(
    'releases-what-is-there',
    'OnlyTheDeleted',
    'core/deletion.ts',
    `      return state.isGuarded ? undefined : 'Guard'`,
    `      return state.isGuarded ? 'Release' : 'Guard'`,
  ),
]
