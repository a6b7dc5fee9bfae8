import { lookup } from 'node:dns/promises'
import { createServer } from 'node:net'
import type { Server, ServerCredentials } from '@grpc/grpc-js'
import { type HostPort, showHostPort } from '../../ports/host-port.js'

/**
 * Binds a gRPC server. Rejects with an error that names the address and says what to do.
 *
 * A host name stands for its first address, as in Node: gRPC would take all of them, and be content
 * with those that it can have. Port 0 takes any free port; the one that it got is in the result.
 */
export const listen = async (
  server: Server,
  { host, port }: HostPort,
  credentials: ServerCredentials,
): Promise<HostPort> => {
  const { address } = await lookup(host).catch((error: unknown) => fail(host, port, error))
  // gRPC writes to stderr by itself when it cannot bind, and hides the reason: ask first.
  await tryPort(address, port).catch((error: unknown) => fail(host, port, error))
  return new Promise((resolve, reject) => {
    server.bindAsync(showHostPort({ host: address, port }), credentials, (error, bound) => {
      if (error === null) resolve({ host: address, port: bound })
      else reject(toListenError(host, port, error))
    })
  })
}

/**
 * Listens and stops at once; a client that comes in between is turned away, and comes again. Of port
 * 0 this asks whether the machine has the address.
 */
const tryPort = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer((socket) => socket.destroy())
    probe.once('error', reject)
    probe.listen({ host, port }, () => probe.close(() => resolve()))
  })

const fail = (host: string, port: number, error: unknown): never => {
  throw toListenError(host, port, error)
}

const toListenError = (host: string, port: number, cause: unknown): Error => {
  const where = `cannot listen for Envoys on ${showHostPort({ host, port })}`
  return new Error(`${where}: ${adviceOn(cause)}`, { cause })
}

const adviceOn = (cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return 'the port is in use. Stop the process that holds it, or choose another port.'
    case 'EACCES':
      return 'permission denied. Choose a port of 1024 or above.'
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address. Choose one of its own, or 0.0.0.0 for all.'
    case 'ENOTFOUND':
      return 'the host name has no address. Choose a name that resolves, or an IP address.'
    default:
      return cause instanceof Error ? cause.message : String(cause)
  }
}
