import * as E from 'fp-ts/lib/Either.js'
import { type Write, wantedWrite } from '../core/deletion.js'
import type { DeletionRecord } from '../core/deletions.js'
import { showKey } from '../core/edge-route.js'
import { type Condition, conditionsOf, isConditionType } from '../core/status.js'
import { finalizer, type StoredObject } from '../core/stored-object.js'
import type { Verdict } from '../core/verdict.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { Metrics } from '../ports/metrics.js'
import type { RouteStore, WriteError } from '../ports/route-store.js'
import { oneByOne } from './one-by-one.js'
import { repeatedLines, type RepeatedLines } from './repeated-lines.js'
import { timedStore } from './timed-store.js'
import { type WorkQueue, workQueue, type Worked } from './work-queue.js'

/** How many writes of each kind are under way at once: the API server has other clients. */
export const maxWrites = 8

/** How long what is to be said of an object is gathered before it is written, in milliseconds. */
export const conditionsDelayMs = 200

/**
 * The same of an object that is being deleted, in milliseconds: most are gone before that, and those that
 * are not change what they wait for with each Envoy that confirms.
 */
export const deletionDelayMs = 1_000

/**
 * How long the end waits for writes that are under way, in milliseconds: longer than a busy API server takes, and
 * well below the 30 s that Kubernetes gives a Pod to end. What has no answer by then may have taken effect.
 */
export const lastWritesMs = 5_000

export interface WriteBackPorts {
  readonly store: RouteStore
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly metrics: Metrics
  /** What is known of an object now. */
  readonly recordOf: (uid: string) => DeletionRecord | undefined
  /** Asks the Envoys again about an object; `recordOf` says what has come of it. */
  readonly lookAt: (uid: string) => void
  readonly verdictOf: (uid: string) => Verdict | undefined
  /** Is told how a write of our finalizer went; `failure` is `undefined` if it succeeded. */
  readonly onWritten: (uid: string, write: Write, failure: string | undefined) => void
}

/** Brings finalizers and conditions to the store. */
export interface WriteBack {
  /**
   * The finalizer of an object may have to be written. `isNew` if the object was seen in another version: what
   * waits after a conflict is tried with that at once.
   */
  readonly finalizer: (uid: string, isNew?: boolean) => void
  /** Something else may be to be said of an object. */
  readonly conditions: (uid: string, isDeleted: boolean) => void
  /** Begins no write any more; resolves when none is under way, or `lastWritesMs` have passed. */
  readonly close: () => Promise<void>
}

/**
 * Writes what the objects are to have, each by itself: what fails is tried again with backoff, and holds up
 * nothing else. Finalizers and conditions have a queue each: a store may take its time with the conditions of
 * thousands of objects, and no deletion waits behind these.
 *
 * What is written is decided when its turn comes here, by what is known then: an Envoy that came back meanwhile
 * stops a release, also one that a store makes wait for its own turn after that. Conditions are only written
 * where they differ from what the object has, or was last given, and not of one that is about to go. Of one
 * object one write is under way at a time: of two, one would only learn of the other. A write that is not
 * answered within `storeAnswerMs` has failed, and gives up its turn. Failures are logged as `repeatedLines` does,
 * by what was written and how it failed.
 */
export const writeBack = (given: WriteBackPorts): WriteBack => {
  const { store, giveUp } = timedStore(given.store, given.clock)
  const failures = repeatedLines(given.logger, given.clock)
  const ports = { ...given, store, failures }
  const written: Written = new Map()
  const turns = oneByOne()
  const queueOf = (work: (uid: string) => Promise<Worked>): WorkQueue =>
    workQueue({
      clock: ports.clock,
      random: ports.random,
      concurrency: maxWrites,
      work: (uid) => turns.take(uid, () => work(uid)),
      onFault: (uid, cause) =>
        failures.tell('Fault', {
          level: 'error',
          message: 'a write to the store failed in an unknown way',
          fields: { uid, error: String(cause) },
        }),
    })
  const finalizers = queueOf((uid) => writeFinalizer(ports, uid))
  const conditions = queueOf((uid) => writeConditions(ports, written, uid))
  return {
    finalizer: (uid, isNew = false) => finalizers.add(uid, 0, { isUrgent: isNew }),
    conditions: (uid, isDeleted) =>
      conditions.add(uid, isDeleted ? deletionDelayMs : conditionsDelayMs),
    close: async () => {
      turns.close()
      const cancel = ports.clock.after(lastWritesMs, giveUp)
      await Promise.all([finalizers.close(), conditions.close()])
      cancel()
      failures.close()
    },
  }
}

/** What it is written with. */
interface Ports extends WriteBackPorts {
  readonly failures: RepeatedLines
}

/** What each object was given last, as long as the source has not shown it. */
type Written = Map<string, Given>

interface Given {
  readonly conditions: ReadonlyArray<Condition>
  /** The version of the object that this was written over: any other one is a later one. */
  readonly over: string
}

const writeFinalizer = async (ports: Ports, uid: string): Promise<Worked> => {
  const { store, onWritten } = ports
  const record = lastLook(ports, uid)
  const write = wantedOf(record)
  if (record?.object === undefined || write === undefined) return 'Done'
  const { object } = record
  const isProven = (): boolean => wantedOf(lastLook(ports, uid)) === 'Release'
  const result = await (write === 'Guard' ? store.guard(object) : store.release(object, isProven))()
  count(ports.metrics, write, result)
  if (E.isRight(result)) {
    onWritten(uid, write, undefined)
    return 'Done'
  }
  switch (result.left._tag) {
    // It is gone: what our finalizer was for is over.
    case 'NotFound':
      onWritten(uid, write, undefined)
      return 'Done'
    // The next sighting brings what is there now.
    case 'Conflict':
      return 'Outdated'
    // It is wanted again once it is proven again.
    case 'Unproven':
      return 'Done'
    case 'Refused':
    case 'Unavailable':
      reportFailure(ports, object, write, result.left)
      onWritten(uid, write, result.left.message)
      return 'Retry'
  }
}

const wantedOf = (record: DeletionRecord | undefined): Write | undefined =>
  record && wantedWrite(record.state)

/** What was proven must be true at this very moment. */
const lastLook = (
  { recordOf, lookAt }: WriteBackPorts,
  uid: string,
): DeletionRecord | undefined => {
  const record = recordOf(uid)
  if (wantedOf(record) !== 'Release') return record
  lookAt(uid)
  return recordOf(uid)
}

const writeConditions = async (ports: Ports, written: Written, uid: string): Promise<Worked> => {
  const record = ports.recordOf(uid)
  const object = record?.object
  const verdict = ports.verdictOf(uid)
  if (object === undefined || verdict === undefined) {
    written.delete(uid)
    return 'Done'
  }
  if (record !== undefined && isAboutToChange(record)) return 'Done'
  const given = written.get(uid)
  const isUnseen = given?.over === object.resourceVersion
  const present = isUnseen ? given.conditions : object.conditions.filter(isOurs)
  if (!isUnseen) written.delete(uid)
  const conditions = conditionsOf(verdict, present, secondsOf(ports.clock.nowMs()))
  const isForeign = !isUnseen && object.hasForeignConditions === true
  if (!isForeign && isSame(conditions, present)) return 'Done'
  const result = await ports.store.writeConditions(object, conditions)()
  count(ports.metrics, 'Conditions', result)
  if (E.isRight(result)) {
    written.set(uid, { conditions, over: object.resourceVersion })
    return 'Done'
  }
  written.delete(uid)
  switch (result.left._tag) {
    case 'NotFound':
    case 'Unproven':
      return 'Done'
    case 'Conflict':
      return 'Retry'
    case 'Refused':
    case 'Unavailable':
      reportFailure(ports, object, 'Conditions', result.left)
      return 'Retry'
  }
}

/**
 * True of an object whose finalizer is a moment from being put on or taken off: a condition written now would give it
 * another version, put that off by a conflict, and be outdated at once. If nothing comes of it the object is in another
 * state, and its turn comes again. What is released vanishes, as a rule: only what is seen again without our finalizer
 * is held by others, and gets a last word.
 */
const isAboutToChange = ({ state, object }: DeletionRecord): boolean => {
  switch (state._tag) {
    case 'Settling':
      return true
    case 'Guarding':
    case 'Releasing':
      return state.failure === undefined
    case 'Released':
      return object?.finalizers.includes(finalizer) === true
    case 'Serving':
    case 'Waiting':
      return false
  }
}

const count = (
  metrics: Metrics,
  write: Write | 'Conditions',
  result: E.Either<WriteError, void>,
): void =>
  metrics.add(
    'edgewright_writes_total',
    { write, result: E.isRight(result) ? 'Ok' : result.left._tag },
    1,
  )

const reportFailure = (
  { failures }: Ports,
  { key, uid }: StoredObject,
  write: Write | 'Conditions',
  { _tag, message: problem }: WriteError,
): void =>
  failures.tell(`${write} ${_tag}`, {
    level: 'warn',
    message: 'a write to the store failed, and is tried again',
    fields: { where: showKey(key), uid, write, problem },
  })

const isOurs = ({ type }: Condition): boolean => isConditionType(type)

/** RFC 3339 without fractions, as Kubernetes has it. */
const secondsOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')

/** Both are ours alone, and always put together in the same order of fields. */
const isSame = (a: ReadonlyArray<Condition>, b: ReadonlyArray<Condition>): boolean =>
  a.length === b.length &&
  a.every((condition) => {
    const other = b.find(({ type }) => type === condition.type)
    return other !== undefined && fieldsOf(condition) === fieldsOf(other)
  })

const fieldsOf = ({
  type,
  status,
  reason,
  message,
  observedGeneration,
  lastTransitionTime,
}: Condition): string =>
  [type, status, reason, message, observedGeneration, lastTransitionTime].join('\n')
