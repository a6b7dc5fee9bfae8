import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Credentials } from './credentials.js'
import {
  idleMs,
  maxConnections,
  maxIdleStreams,
  maxStreams,
  maxVitalConnections,
  tcpKeepAliveMs,
} from './limits.js'

/**
 * What a connection is for: streams hold theirs for minutes, and must never keep requests waiting; many requests at
 * once, of a slow server, must not keep the vital ones waiting.
 */
export type Use = 'request' | 'vital' | 'stream'

/** The connections of a client: bounded, kept open, and made with one set of certificates. */
export interface Pools {
  readonly agentFor: (use: Use, credentials: Credentials) => HttpAgent
  /** Ends the connections that nothing uses: where one was found dead, so may be the others. */
  readonly dropIdle: (agent: HttpAgent) => void
  /** Ends all of the present ones. */
  readonly close: () => void
}

interface Pool {
  readonly credentials: Credentials
  readonly agents: Readonly<Record<Use, HttpAgent>>
}

/**
 * Makes the pools of a server. With other certificates new connections are made; the old ones go as
 * soon as what they are used for has ended.
 */
export const poolsFor = (server: URL): Pools => {
  let present: Pool | undefined
  const poolOf = (credentials: Credentials): Pool => {
    if (present?.credentials.tlsKey === credentials.tlsKey) return present
    for (const agent of agentsOf(present)) retire(agent)
    present = { credentials, agents: open(server, credentials) }
    return present
  }
  return {
    agentFor: (use, credentials) => poolOf(credentials).agents[use],
    dropIdle,
    close: () => {
      for (const agent of agentsOf(present)) agent.destroy()
    },
  }
}

const agentsOf = (pool: Pool | undefined): ReadonlyArray<HttpAgent> =>
  pool === undefined ? [] : Object.values(pool.agents)

const open = ({ protocol }: URL, { tls }: Credentials): Pool['agents'] => {
  const agent = (maxSockets: number, maxFreeSockets: number): HttpAgent => {
    const options: AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: tcpKeepAliveMs,
      timeout: idleMs,
      maxSockets,
      maxFreeSockets,
    }
    return protocol === 'http:' ? new HttpAgent(options) : new HttpsAgent({ ...options, ...tls })
  }
  return {
    request: agent(maxConnections, maxConnections),
    vital: agent(maxVitalConnections, maxVitalConnections),
    stream: agent(maxStreams, maxIdleStreams),
  }
}

const dropIdle = (agent: HttpAgent): void => {
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy()
}

const retire = (agent: HttpAgent): void => {
  agent.maxFreeSockets = 0
  dropIdle(agent)
}
