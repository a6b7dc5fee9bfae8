import type { HostPort } from '../../bootstrap.js'
import { listenHttp, loopback } from './listen.js'
import type { Scope } from './scope.js'

/** A small HTTP server that answers every request with its own name. */
export interface DemoBackend extends HostPort {
  readonly name: string
}

/** The first word of a backend's answer is its name. */
export const startBackend = async (scope: Scope, name: string): Promise<DemoBackend> => {
  const port = await listenHttp(scope, (request, response) => {
    response.setHeader('content-type', 'text/plain')
    response.end(`${name} has answered ${request.method ?? ''} ${request.url ?? ''}\n`)
  })
  return { name, host: loopback, port }
}

/** The name of the backend that gave this answer. */
export const backendOf = (body: string): string => body.slice(0, body.indexOf(' '))
