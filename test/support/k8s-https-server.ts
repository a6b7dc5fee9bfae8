import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, onTestFinished } from 'vitest'
import {
  connectKubernetes,
  type KubeCluster,
  type KubeConfig,
  type KubernetesClient,
  type KubernetesClientOptions,
  loadKubeConfig,
} from '../../src/adapters/k8s/client/index.js'
import { type Certificates, makeCertificates } from '../e2e/cluster/certificates.js'

/** A folder that is gone when the test is over. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'edgewright-k8s-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Certificates for 127.0.0.1 and localhost, and of a client; made once for a test file. */
export const testCertificates = (): Promise<Certificates> => {
  made ??= makeCertificates(keys)
  return made
}
const keys = join(tmpdir(), `edgewright-k8s-keys-${randomUUID()}`)
let made: Promise<Certificates> | undefined
afterAll(() => rmSync(keys, { recursive: true, force: true }))

/** Stands in for an API server. */
export interface TestServer {
  readonly url: string
  readonly port: number
  readonly certificates: Certificates
  /** All connections that were ever made. */
  readonly connections: ReadonlyArray<Socket>
  /** Those that are open. */
  readonly open: () => number
  readonly close: () => void
}

/** Serves over TLS on 127.0.0.1 with a certificate that the authority of `testCertificates` has signed. */
export const startHttpsServer = async (
  handler: RequestListener,
  options: ServerOptions = {},
): Promise<TestServer> => {
  const certificates = await testCertificates()
  const { certificate, key } = certificates.server
  const identity = { cert: readFileSync(certificate), key: readFileSync(key) }
  const server = createServer({ keepAliveTimeout: 0, ...identity, ...options }, handler)
  return listen(server, 'https', 'secureConnection', certificates)
}

export const startHttpServer = async (handler: RequestListener): Promise<TestServer> =>
  listen(createHttpServer(handler), 'http', 'connection', await testCertificates())

const listen = async (
  server: Server,
  scheme: string,
  connection: string,
  certificates: Certificates,
): Promise<TestServer> => {
  const connections: Array<Socket> = []
  server.on(connection, (socket: Socket) => {
    connections.push(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  const close = (): void => {
    server.close()
    for (const socket of connections) socket.destroy()
  }
  onTestFinished(close)
  const open = (): number => connections.filter(({ destroyed }) => !destroyed).length
  return { url: `${scheme}://127.0.0.1:${port}`, port, certificates, connections, open, close }
}

/** What a kubeconfig says of a cluster and a user. */
export interface ConfigParts {
  readonly cluster?: Readonly<Record<string, unknown>>
  readonly user?: Readonly<Record<string, unknown>>
}

/**
 * A client of a server of these tests, which is closed when the test is over. Trusts the authority of these tests, and has a
 * token, unless `parts` say otherwise.
 */
export const connectTo = async (
  { url, certificates }: Pick<TestServer, 'url' | 'certificates'>,
  { cluster = {}, user = { token: 'secret' } }: ConfigParts = {},
  options: Omit<KubernetesClientOptions, 'kubeConfig'> = {},
): Promise<KubernetesClient> => {
  const trust = { server: url, 'certificate-authority': certificates.ca }
  const path = join(temporaryDirectory(), 'kubeconfig')
  const config = {
    clusters: [{ name: 'c', cluster: { ...trust, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(path, JSON.stringify(config))
  const loaded = await loadKubeConfig({ _tag: 'Files', paths: [path] })
  if (E.isLeft(loaded)) throw new Error(loaded.left)
  const client = connectKubernetes({ kubeConfig: loaded.right, ...options })
  onTestFinished(client.close)
  return client
}

/** As an embedder may have made it, without a user. */
export const kubeConfigOf = (cluster: KubeCluster | null): KubeConfig => ({
  contexts: [],
  currentContext: 'x',
  getClusters: () => [],
  getUsers: () => [],
  getCurrentContext: () => 'x',
  getContextObject: () => null,
  getCurrentCluster: () => cluster,
  getCurrentUser: () => null,
  applyToHTTPSOptions: () => Promise.resolve(),
})
