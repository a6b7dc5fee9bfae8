import type { Listeners, RunningListener } from './listeners.js'

/** Connections of clients that are kept open, each with the form of a listener that took it. */
export interface Connections {
  readonly open: ReadonlyMap<ConnectionId, RunningListener['id']>
  readonly count: number
}

/** Names a connection; never used again. */
export type ConnectionId = number

export const noConnections: Connections = { open: new Map(), count: 0 }

/** How many connections one Envoy keeps open: far more than a test needs. The oldest makes room. */
export const keptConnections = 10_000

export const connectTo = (
  { open, count }: Connections,
  listener: RunningListener,
): readonly [connections: Connections, connection: ConnectionId] => {
  const connection = count + 1
  const kept = [...open].slice(Math.max(0, open.size + 1 - keptConnections))
  return [{ open: new Map([...kept, [connection, listener.id]]), count: connection }, connection]
}

/** The form of a listener that a connection belongs to; `undefined` where either is gone. */
export const listenerOf = (
  { open }: Connections,
  { active, draining }: Listeners,
  connection: ConnectionId,
): RunningListener | undefined => {
  const id = open.get(connection)
  return [...active.values(), ...draining].find((listener) => listener.id === id)
}
