import { type ControllerPorts, type ReleaseGate, startController } from 'edgewright/host'
import { memoryLogger, memoryMetrics, virtualClock } from 'edgewright/memory'
import * as E from 'fp-ts/lib/Either.js'
import type { RecordedFact } from '../../src/core/deletions.js'
import type { Ledger } from '../../src/core/ledger.js'
import { listeners } from '../../src/core/listeners.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import type { Condition } from '../../src/core/status.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'
import type { DeletionProof } from '../../src/ports/deletion-proof.js'
import type { RouteSource, SourceProblem, SourceState } from '../../src/ports/route-source.js'
import type { RouteStore, WriteError, WriteFailure } from '../../src/ports/route-store.js'
import { aLedger, type NodeOptions } from './ledger-nodes.js'
import { routeOf } from './stored-objects.js'
import { uidsIn } from './uids-in.js'

/** Lets all promises that wait for nothing go on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Everything that the controller did to others, in order. */
export type Journal = Array<string>

/** A source that says what it is told to. */
export const scriptedSource = () => {
  let tell: ((state: SourceState) => void) | undefined
  const source: RouteSource = {
    watch: (onState, signal) => () =>
      new Promise((resolve) => {
        tell = onState
        signal.addEventListener('abort', () => resolve(E.right(undefined)))
      }),
  }
  return { source, emit: (state: SourceState): void => tell?.(state) }
}

/** What a write meets: it fails without effect, or takes effect and the answer is lost. */
export type Fate = WriteFailure | 'Lost'

/** Objects that a store keeps, with the rules of an API server; each write waits for `answer` if it is held. */
export const scriptedStore = (journal: Journal) => {
  const objects = new Map<string, StoredObject>()
  const fates: Array<Fate> = []
  const underWay = new Map<string, number>()
  let isHeld = false
  let held: Array<() => void> = []
  let mostAtOnce = 0
  const put = (object: StoredObject): void => {
    const isOver = object.deletionTimestamp !== undefined && object.finalizers.length === 0
    if (isOver) objects.delete(object.uid)
    else objects.set(object.uid, object)
  }
  const change = (uid: string, of: Partial<StoredObject>): void => {
    const object = objects.get(uid)
    if (object === undefined) return
    put({ ...object, ...of, resourceVersion: `${Number(object.resourceVersion) + 1}` })
  }
  const attempt = (seen: StoredObject, of: Partial<StoredObject>): E.Either<WriteError, void> => {
    const fail = (_tag: WriteFailure) => E.left({ _tag, message: `the store says ${_tag}` })
    const fate = fates.shift()
    if (fate !== undefined && fate !== 'Lost') return fail(fate)
    const object = objects.get(seen.uid)
    if (object === undefined) return fail('NotFound')
    if (object.resourceVersion !== seen.resourceVersion) return fail('Conflict')
    change(seen.uid, of)
    return fate === 'Lost' ? fail('Unavailable') : E.right(undefined)
  }
  const write =
    (what: string, seen: StoredObject, of: Partial<StoredObject>) =>
    async (): Promise<E.Either<WriteError, void>> => {
      journal.push(`${what} ${seen.uid}`)
      const count = (underWay.get(seen.uid) ?? 0) + 1
      underWay.set(seen.uid, count)
      mostAtOnce = Math.max(mostAtOnce, count)
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
      underWay.set(seen.uid, count - 1)
      return attempt(seen, of)
    }
  const store: RouteStore = {
    guard: (object) => write('guard', object, { finalizers: [...object.finalizers, finalizer] }),
    release: (object) =>
      write('release', object, {
        finalizers: object.finalizers.filter((each) => each !== finalizer),
      }),
    writeConditions: (object, conditions: ReadonlyArray<Condition>) =>
      write('conditions', object, { conditions }),
  }
  return {
    store,
    objects,
    put,
    change,
    /** What the next writes meet, one each. */
    meet: (...next: ReadonlyArray<Fate>) => void fates.push(...next),
    hold: () => {
      isHeld = true
    },
    answer: async () => {
      isHeld = false
      for (const resolve of held) resolve()
      held = []
      await settled()
    },
    mostAtOnce: () => mostAtOnce,
  }
}

/** Envoys that hold what they are told to. */
export const scriptedProof = (journal: Journal) => {
  const bell = listeners()
  let snapshot: Snapshot | undefined
  let nodes: ReadonlyArray<NodeOptions> = []
  let returns = 0
  let known: Ledger | undefined
  const change = (): void => {
    known = undefined
    bell.ring()
  }
  const proof: DeletionProof = {
    ledger: () => {
      journal.push('evidence')
      known ??= { ...aLedger(snapshot, nodes), returns }
      return known
    },
    onLedgerChange: bell.listen,
    demandAcks: (isOn) => void journal.push(`demand ${isOn}`),
    admit: (id) => void journal.push(`admit ${id}`),
    forget: () => 'Unknown',
  }
  return {
    proof,
    publish: (next: Snapshot): void => {
      journal.push(`publish ${uidsIn(next).join()}`)
      snapshot = next
      known = undefined
    },
    /** These objects are in the tables of an Envoy on its stream; it is the only one. */
    holds: (...uids: ReadonlyArray<string>) => {
      returns = Math.max(1, returns)
      const holds = Object.fromEntries(uids.map((uid) => [uid, 1]))
      nodes = [{ id: 'envoy', stream: String(returns), holds }]
      change()
    },
    /** An Envoy is known, and has not come back. */
    lost: () => {
      nodes = [{ id: 'envoy', stream: undefined, holds: undefined }]
      change()
    },
    /** An Envoy is on the roster, and was not heard from. */
    unheard: () => {
      nodes = [{ id: 'envoy', stream: undefined, holds: undefined, isUnknown: true }]
      change()
    },
    /** Nobody is known, or is known any more. */
    forgotten: () => {
      nodes = []
      change()
    },
    /** A stream begins, and its Envoy has nothing. */
    join: () => {
      returns += 1
      change()
    },
    ring: bell.ring,
  }
}

/** A controller of a store, on virtual time, whose Envoys and writes are scripted. */
export const stage = (more: Partial<ControllerPorts> = {}, gate?: ReleaseGate) => {
  const journal: Journal = []
  const clock = virtualClock()
  const logger = memoryLogger()
  const metrics = memoryMetrics()
  const facts: Array<RecordedFact> = []
  const world = scriptedStore(journal)
  const envoys = scriptedProof(journal)
  const { source, emit } = scriptedSource()
  const abort = new AbortController()
  const { store } = world
  const controller = startController(
    {
      source,
      sink: envoys,
      clock,
      logger,
      metrics,
      deletion: { proof: envoys.proof, store, ...(gate === undefined ? {} : { gate }) },
      onDeletion: (fact) => void facts.push(fact),
      random: () => 0,
      ...more,
    },
    abort.signal,
  )
  const pass = async (ms = 0): Promise<void> => {
    await settled()
    clock.advance(ms)
    await settled()
  }
  /** The source says what is in the store now. Objects that are named have a spec that is not valid. */
  const sync = async (problems: ReadonlyArray<SourceProblem> = []): Promise<void> => {
    const objects = [...world.objects.values()]
    const isValid = ({ key }: StoredObject): boolean =>
      problems.every((problem) => problem.key?.name !== key.name)
    emit({ routes: objects.filter(isValid).map(routeOf), objects, problems })
    await pass()
  }
  /** What was done to others, without the questions; and it is over. */
  const done = (): ReadonlyArray<string> =>
    journal.splice(0).filter((entry) => entry !== 'evidence')
  return {
    ...{ journal, clock, logger, metrics, facts, controller, emit, pass, sync, done },
    ...{ world, envoys, abort },
    stop: async () => {
      abort.abort()
      await world.answer()
      await controller.finished.catch(() => undefined)
    },
  }
}

export type Stage = ReturnType<typeof stage>
