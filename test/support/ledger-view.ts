import type { TypeUrl } from 'edgewright'
import { serveXds, type XdsServer, type XdsServerOptions } from 'edgewright/xds'
import { mayStillServe, refusalsOf } from '../../src/core/ledger.js'
import { progressOf } from '../../src/core/progress.js'

/** A change that an Envoy refused, and that was traced to its object. */
export interface Conviction {
  /** The id of the node. */
  readonly node: string
  readonly typeUrl: TypeUrl
  /** The uids of the objects that stand in it. */
  readonly owners: ReadonlyArray<string>
  readonly message: string
}

/** The ids of the nodes that may still serve an object; none if it is gone from everywhere. */
export const stillServing = (server: XdsServer, uid: string): ReadonlyArray<string> =>
  mayStillServe(server.ledger(), uid).map(({ id }) => id)

/** True if there is an Envoy, and every one has accepted the published form of an object everywhere. */
export const isProgrammed = (server: XdsServer, uid: string): boolean => {
  const ledger = server.ledger()
  return (
    ledger.nodes.length > 0 &&
    ledger.nodes.every((node) => !progressOf(ledger, node).behind.has(uid))
  )
}

/** What stands convicted of an object, or, without one, of all. */
export const convictions = (server: XdsServer, uid?: string): ReadonlyArray<Conviction> =>
  refusalsOf(server.ledger()).filter(({ owners }) => uid === undefined || owners.includes(uid))

/** A server in the place of another one that has stopped, which knows of it what outlives a server. */
export const serveAfter = (
  stopped: XdsServer,
  options: XdsServerOptions,
  signal: AbortSignal,
): Promise<XdsServer> =>
  serveXds({ ...options, port: stopped.address.port, memory: stopped.memory() }, signal)
