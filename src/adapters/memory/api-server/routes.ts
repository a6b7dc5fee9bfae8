import type { Clock } from '../../../ports/clock.js'
import type { RouteSource } from '../../../ports/route-source.js'
import type { RouteStore } from '../../../ports/route-store.js'
import { apiRouteSource } from './route-source.js'
import { apiRouteStore } from './route-store.js'
import type { MemoryApiServer } from './server.js'

/** How often everything is listed again, in milliseconds: for that long at most an event that was lost is missed. */
export const defaultRelistMs = 600_000

export interface MemoryRoutesOptions {
  readonly clock: Clock
  /** The name under which the server, and its faults, know this client. */
  readonly client?: string
  /** How often everything is listed again, in milliseconds; never if 0. */
  readonly relistMs?: number
}

/** The routes of a server, to be read and written as from a cluster. */
export interface MemoryRoutes {
  readonly source: RouteSource
  readonly store: RouteStore
}

/**
 * Reads and writes the EdgeRoutes of a server in memory as a controller in a cluster does: by list and watch,
 * and by guarded patches.
 *
 * @category memory
 * @since 0.2.0
 */
export const memoryRoutes = (
  server: MemoryApiServer,
  { clock, client = 'edgewright', relistMs = defaultRelistMs }: MemoryRoutesOptions,
): MemoryRoutes => {
  const connection = server.connect(client)
  return {
    source: apiRouteSource({ connection, clock, relistMs }),
    store: apiRouteStore(connection),
  }
}
