import { type EveryAddress, serveEveryAddress } from '../every-address.js'

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

export interface RecordingBackends extends EveryAddress {
  readonly arrivals: ReadonlyArray<Arrival>
}

/** A backend at every address of 127.0.0.0/8, that writes down each request and answers with that address. */
export const startRecordingBackends = async (): Promise<RecordingBackends> => {
  const arrivals: Array<Arrival> = []
  const serving = await serveEveryAddress((request, response) => {
    const address = request.socket.localAddress ?? ''
    const name = request.headers[requestHeader]
    const path = request.url ?? ''
    arrivals.push({ address, path, request: String(name), atMs: performance.now() })
    response.end(address)
  })
  return { ...serving, arrivals }
}
