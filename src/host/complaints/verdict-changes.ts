import { changedKeys } from '../../core/ordered-map.js'
import type { Uid } from '../../core/resource.js'
import type { Verdict } from '../../core/verdict.js'
import type { Verdicts } from '../programmed-verdicts.js'

/** What is said of an object, and what was; `undefined` where nothing is. */
export interface VerdictChange {
  readonly uid: Uid
  readonly before: Verdict | undefined
  readonly after: Verdict | undefined
}

/** What is not the very same any more, in the order of uids. Costs what `changedKeys` does. */
export const verdictChanges = (before: Verdicts, after: Verdicts): ReadonlyArray<VerdictChange> =>
  changedKeys(before, after).map((uid) => ({
    uid,
    before: before.get(uid),
    after: after.get(uid),
  }))
