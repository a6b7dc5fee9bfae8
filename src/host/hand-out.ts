import { wantedWrite } from '../core/deletion.js'
import type { Deletions } from '../core/deletions.js'
import { compareStrings } from '../core/order.js'
import { changedKeys } from '../core/ordered-map.js'
import type { Verdicts } from './programmed-verdicts.js'
import type { WriteBack } from './write-back.js'

/** What decides of what is to be written. */
export interface Wanted {
  readonly deletions: Deletions
  readonly verdicts: Verdicts
}

/**
 * Has written what is to be written otherwise than before, in the order of uids, and those that are there no more
 * last. Costs O(d log n) for d objects of which anything has changed.
 */
export const handOut = (
  writes: Pick<WriteBack, 'finalizer' | 'conditions'>,
  before: Wanted,
  after: Wanted,
): void => {
  const { records } = after.deletions
  const uids = changedUids(before, after)
  for (const uid of uids) {
    const record = records.get(uid)
    if (record === undefined) continue
    const known = before.deletions.records.get(uid)
    // What is as it was is in hand already: a write that is done waits to be seen, one that failed for its turn.
    if (known !== record && wantedWrite(record.state) !== undefined)
      writes.finalizer(uid, known?.object?.resourceVersion !== record.object?.resourceVersion)
    const isSame =
      before.verdicts.get(uid) === after.verdicts.get(uid) && known?.object === record.object
    if (!isSame) writes.conditions(uid, record.object?.deletionTimestamp !== undefined)
  }
  for (const uid of uids)
    if (before.deletions.records.has(uid) && !records.has(uid)) writes.conditions(uid, false)
}

const changedUids = (before: Wanted, after: Wanted): ReadonlyArray<string> => {
  const ofRecords = changedKeys(before.deletions.records, after.deletions.records)
  const ofVerdicts = changedKeys(before.verdicts, after.verdicts)
  return [...new Set([...ofRecords, ...ofVerdicts])].sort(compareStrings)
}
