import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import type { Scope } from './scope.js'

/** Everything in the demo stays on this machine. */
export const loopback = '127.0.0.1'

/** Serves HTTP on a port of the loopback until the scope ends; 0 takes any. Returns the port. */
export const listenHttp = async (
  scope: Scope,
  handler: RequestListener,
  port = 0,
): Promise<number> => {
  const server = createServer(handler)
  const got = await listen(server, port)
  scope.defer(() => {
    server.closeAllConnections()
    return close(server)
  })
  return got
}

/** A port that nobody listens on at the moment: the preferred one, or any. */
export const freePort = async (preferred: number): Promise<number> => {
  const server = createTcpServer()
  const port = await listen(server, preferred).catch(() => listen(server, 0))
  await close(server)
  return port
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, loopback, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()))
