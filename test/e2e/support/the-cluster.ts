import { inject } from 'vitest'
import type { Cluster } from '../cluster/cluster.js'
import { sharedCluster } from '../cluster/share.js'

/** The cluster that this run has. Whoever stops its API server starts it again. */
export const theCluster = (): Cluster => sharedCluster(inject('cluster'))
