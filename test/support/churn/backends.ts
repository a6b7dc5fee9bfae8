import { createServer } from 'node:http'

/** Where a backend says at which address a request has reached it. */
export const backendHeader = 'x-backend'

export interface Backends {
  /** The same one for all. */
  readonly port: number
  readonly stop: () => Promise<void>
}

/**
 * Starts a backend for every address of 127.0.0.0/8, all of which Linux answers on: each is a cluster of its
 * own for an Envoy. Connections stay open until the Envoy closes them: a backend that closed an idle one just
 * as a request is on its way would be answered for with 503.
 */
export const startBackends = async (): Promise<Backends> => {
  const server = createServer((request, response) => {
    response.setHeader(backendHeader, request.socket.localAddress ?? '')
    response.end('ok')
  })
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '0.0.0.0', resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
