import { createServer } from 'node:http'

/** The name of the request by which it is known at both ends. */
export const requestHeader = 'x-request'

/** A request that has reached a backend. */
export interface Arrival {
  /** Of 127.0.0.0/8: where it was sent to. */
  readonly address: string
  readonly path: string
  readonly request: string
  /** When, by `performance.now()`. */
  readonly atMs: number
}

export interface RecordingBackends {
  /** The same one for all. */
  readonly port: number
  readonly arrivals: ReadonlyArray<Arrival>
  readonly stop: () => Promise<void>
}

/** A backend at every address of 127.0.0.0/8, that writes down each request and answers with that address. */
export const startRecordingBackends = async (): Promise<RecordingBackends> => {
  const arrivals: Array<Arrival> = []
  const server = createServer((request, response) => {
    const address = request.socket.localAddress ?? ''
    const name = request.headers[requestHeader]
    const path = request.url ?? ''
    arrivals.push({ address, path, request: String(name), atMs: performance.now() })
    response.end(address)
  })
  // One that closed an idle connection just as a request is on its way would be answered for with 503.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '0.0.0.0', resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    arrivals,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
