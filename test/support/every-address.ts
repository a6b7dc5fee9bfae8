import { createServer, type RequestListener } from 'node:http'

/** A server at every address of 127.0.0.0/8. */
export interface EveryAddress {
  /** The same one for all. */
  readonly port: number
  readonly stop: () => Promise<void>
}

/**
 * Serves every address of 127.0.0.0/8, all of which Linux answers on: each is a cluster of its own for an Envoy.
 * Connections stay open until the Envoy closes them: a backend that closed an idle one just as a request is on its
 * way would be answered for with 503.
 */
export const serveEveryAddress = async (answer: RequestListener): Promise<EveryAddress> => {
  const server = createServer(answer)
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
