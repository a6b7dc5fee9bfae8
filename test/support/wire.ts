import { connect, createServer, type Server, type Socket } from 'node:net'
import type { HostPort } from '../../src/host/bootstrap.js'

/** A cable between an Envoy and its control plane that a test can cut and hold. */
export interface Wire {
  /** What the Envoy dials. */
  readonly address: HostPort
  /** Ends every connection at once; new ones are taken as soon as `mend` was called. */
  readonly cut: () => void
  /** Takes connections again. */
  readonly mend: () => void
  /** Keeps what the control plane says from the Envoy; what the Envoy says still gets through. */
  readonly hold: () => void
  /** Hands over what was held. */
  readonly release: () => void
  readonly stop: () => Promise<void>
}

interface Connection {
  readonly client: Socket
  readonly upstream: Socket
}

/** Lays a wire to what `target` is at the time of each connection. */
export const layWire = async (target: () => HostPort): Promise<Wire> => {
  const connections = new Set<Connection>()
  const state = { isCut: false, isHeld: false }
  const server = createServer((client) => {
    if (state.isCut) return void client.destroy()
    const { host, port } = target()
    const connection = { client, upstream: connect(port, host) }
    connections.add(connection)
    join(connection, () => connections.delete(connection))
    if (state.isHeld) connection.upstream.pause()
  })
  const cut = (): void => {
    state.isCut = true
    for (const { client, upstream } of connections) {
      client.destroy()
      upstream.destroy()
    }
  }
  return {
    address: await listen(server),
    cut,
    mend: () => {
      state.isCut = false
    },
    hold: () => {
      state.isHeld = true
      for (const { upstream } of connections) upstream.pause()
    },
    release: () => {
      state.isHeld = false
      for (const { upstream } of connections) upstream.resume()
    },
    stop: () => {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const join = ({ client, upstream }: Connection, onEnd: () => void): void => {
  client.setNoDelay(true)
  upstream.setNoDelay(true)
  client.on('data', (bytes) => upstream.write(bytes))
  upstream.on('data', (bytes) => client.write(bytes))
  const end = (): void => {
    onEnd()
    client.destroy()
    upstream.destroy()
  }
  for (const socket of [client, upstream]) socket.on('close', end).on('error', end)
}

const listen = (server: Server): Promise<HostPort> =>
  new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve({ host: '127.0.0.1', port })
    })
  })
