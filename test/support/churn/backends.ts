import { type EveryAddress, serveEveryAddress } from '../every-address.js'

/** Where a backend says at which address a request has reached it. */
export const backendHeader = 'x-backend'

/** Starts a backend for every address of 127.0.0.0/8, which says where it was reached. */
export const startBackends = (): Promise<EveryAddress> =>
  serveEveryAddress((request, response) => {
    response.setHeader(backendHeader, request.socket.localAddress ?? '')
    response.end('ok')
  })
