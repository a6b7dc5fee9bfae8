import * as E from 'fp-ts/lib/Either.js'
import type { NotYet } from '../core/deletion.js'
import { type DeletionRecord, recordsNamed } from '../core/deletions.js'
import type { RouteKey } from '../core/edge-route.js'
import { evidenceOf } from '../core/evidence.js'
import { mayStillServe } from '../core/ledger.js'
import { compareStrings } from '../core/order.js'
import type { Uid } from '../core/resource.js'
import type { StoredObject } from '../core/stored-object.js'
import type { Clock } from '../ports/clock.js'
import type { LedgerSource } from '../ports/ledger-source.js'
import type { RouteStore } from '../ports/route-store.js'
import type { Controller } from './controller.js'
import type { BreakGlassResult } from './operator.js'
import { timedStore } from './timed-store.js'

/** How often a release that meets a conflict is tried once more: others write to an object now and then, not always. */
export const conflictRetries = 3

/** How long each of these waits for the source to show what is there now, in milliseconds. */
export const conflictPauseMs = 200

/** What a glass is broken with. */
export interface BreakGlassPorts {
  readonly controller: Pick<Controller, 'look' | 'state' | 'stopWaiting'>
  readonly ledger: LedgerSource
  readonly clock: Clock
  /** Why nothing counts as proven at the moment, whatever the ledger says; `undefined` if something may. */
  readonly notYet: () => NotYet | undefined
  /** Where finalizers are; absent for a source without any. */
  readonly store?: RouteStore
}

/** Stops waiting with every object of a name that is being deleted, and says what was not proven of them. */
export const breakGlass = async (
  ports: BreakGlassPorts,
  key: RouteKey,
): Promise<BreakGlassResult> => {
  const { controller, ledger: source, notYet } = ports
  controller.look()
  const { deletions } = controller.state()
  const named = recordsNamed(deletions, key)
  if (named.length === 0) return { _tag: 'Unknown' }
  const ending = named.filter(({ uid }) => deletions.pending.has(uid))
  if (ending.length === 0) return { _tag: 'NotTerminating' }
  // As it is before anything is done: a glass that is broken confirms nothing.
  const [ledger, closed] = [source.ledger(), notYet()]
  const unconfirmed = new Set<string>()
  const lacking: Array<NotYet> = []
  const failures: Array<string> = []
  for (const { uid } of ending) {
    for (const { id } of mayStillServe(ledger, uid)) unconfirmed.add(id)
    const evidence = evidenceOf(ledger, closed, uid)
    if (evidence._tag !== 'Clear') lacking.push(evidence)
    const failure = await letGo(ports, uid)
    if (failure !== undefined) failures.push(failure)
  }
  if (failures.length > 0) return { _tag: 'Failed', message: failures.join('; ') }
  const waitedFor = lacking.find(({ _tag }) => _tag === 'Owed') ?? lacking[0]
  return { _tag: 'Broken', unconfirmed: [...unconfirmed].sort(compareStrings), waitedFor }
}

/** Says why it could not be done; `undefined` if it was. */
const letGo = async (ports: BreakGlassPorts, uid: Uid): Promise<string | undefined> => {
  const { controller, clock } = ports
  const record = recordOf(ports, uid)
  if (record === undefined) return undefined
  if (record.object === undefined) {
    controller.stopWaiting(uid)
    return undefined
  }
  if (ports.store === undefined) return 'there is no store to write to'
  const { store } = timedStore(ports.store, clock)
  let object: StoredObject = record.object
  for (let retry = 0; ; retry += 1) {
    const result = await store.release(object)()
    if (E.isRight(result) || result.left._tag === 'NotFound') return undefined
    if (result.left._tag !== 'Conflict' || retry === conflictRetries) return result.left.message
    await new Promise<void>((resolve) => clock.after(conflictPauseMs, resolve))
    const present = recordOf(ports, uid)
    if (present?.object === undefined) return undefined
    object = present.object
  }
}

/** As long as it is not released. */
const recordOf = ({ controller }: BreakGlassPorts, uid: Uid): DeletionRecord | undefined => {
  const { records, pending } = controller.state().deletions
  return pending.has(uid) ? records.get(uid) : undefined
}
