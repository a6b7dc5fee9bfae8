import type { Snapshot } from '../core/snapshot.js'

/** Whoever brings snapshots to Envoys. */
export interface SnapshotSink {
  /** Makes this the state that all clients are to reach. Returns at once; never waits for a client. */
  readonly publish: (snapshot: Snapshot) => void
}
