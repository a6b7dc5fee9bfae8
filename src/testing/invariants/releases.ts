import type { Change, MemoryApiServer } from '../../adapters/memory/index.js'
import { showKey } from '../../core/edge-route.js'
import type { Uid } from '../../core/resource.js'
import { finalizer } from '../../core/stored-object.js'
import type { Violation } from './violation.js'

/** Watches over the finalizers at an API server in memory. */
export interface ReleaseWatch {
  /** What has gone wrong so far, in order. */
  readonly violations: () => ReadonlyArray<Violation>
  /** The uids of objects that had our finalizer at any time, and of those that have lost it. */
  readonly guarded: ReadonlySet<Uid>
  readonly released: ReadonlySet<Uid>
  readonly stop: () => void
}

/**
 * Watches that our finalizer is taken off an object only when that is being deleted, and when nobody serves it any
 * more: at that very moment, before the write returns.
 *
 * `servers` names the Envoys that may serve an object. It decides who counts: leave out an Envoy that somebody
 * has had forgotten, and answer with none of an object whose glass was broken.
 */
export const watchReleases = (
  api: Pick<MemoryApiServer, 'observe'>,
  servers: (uid: Uid) => ReadonlyArray<string>,
): ReleaseWatch => {
  const violations: Array<Violation> = []
  const guarded = new Set<Uid>()
  const released = new Set<Uid>()
  const onRelease = ({ metadata }: Change['object']): void => {
    const { uid, deletionTimestamp } = metadata
    const who = `${showKey(metadata)} (${uid})`
    released.add(uid)
    if (deletionTimestamp === undefined)
      violations.push({ law: 'OnlyTheDeleted', message: `${who} is released, and not deleted` })
    const serving = servers(uid)
    if (serving.length > 0)
      violations.push({
        law: 'GoneBeforeReleased',
        message: `${who} is released while ${serving.join(', ')} may still serve it`,
      })
  }
  const stop = api.observe((change) => {
    const had = isGuarded(change.before)
    const has = change.type !== 'DELETED' && isGuarded(change.object)
    if (has) guarded.add(change.object.metadata.uid)
    if (had && !has) onRelease(change.object)
  })
  return { violations: () => [...violations], guarded, released, stop }
}

const isGuarded = (object: Change['before']): boolean =>
  object?.metadata.finalizers?.includes(finalizer) === true
