import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from './certificates.js'
import { accessTo, type Cluster, type ClusterAccess, kubeconfigOf } from './cluster.js'
import { freePorts } from './ports.js'
import { type ServerOptions, type ServerProcess, startServer } from './server-process.js'
import * as servers from './servers.js'

export interface StartClusterOptions {
  /** Ends the start; a cluster that is up is ended by `close`. */
  readonly signal: AbortSignal
  /** The folder that `build.sh` prints; what `EDGEWRIGHT_CLUSTER_BIN` says if absent. */
  readonly binaries?: string
  /**
   * Files and folders of CustomResourceDefinitions that are there before the garbage collector starts: it looks for
   * new kinds every 30 s only.
   */
  readonly crds?: ReadonlyArray<string>
}

/** A cluster, for whoever has started it. */
export interface OwnCluster extends Cluster {
  /** What its servers have said, by files. */
  readonly logDirectory: string
  /** Ends its servers, and removes its files. May be called again. */
  readonly close: () => Promise<void>
}

/**
 * Starts etcd, a Kubernetes API server and the controllers that do without nodes, on 127.0.0.1.
 *
 * It takes 3 to 5 s and 420 MiB. Rejects, and leaves nothing behind, where one of them does not come up. The servers
 * never outlive this process, save a SIGKILL.
 */
export const startCluster = async (options: StartClusterOptions): Promise<OwnCluster> => {
  const directory = await mkdtemp(join(tmpdir(), 'edgewright-cluster-'))
  const running = new Map<string, ServerProcess>()
  const close = async (): Promise<void> => {
    await Promise.all([...running.values()].map((server) => server.stop()))
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const plan = await planIn(directory, options.binaries ?? binariesFromEnvironment())
    const logDirectory = join(directory, 'logs')
    const start = async (server: Server): Promise<void> => {
      const path = join(plan.binaries, server.name)
      const logPath = join(logDirectory, `${server.name}.log`)
      const { signal } = options
      running.set(server.name, await startServer({ ...server, path, logPath, signal }))
    }
    const access = await startAll(plan, start, options.crds ?? [])
    return {
      ...access,
      logDirectory,
      stopApiServer: async (signal) => {
        await running.get(apiServer)?.stop(signal)
        running.delete(apiServer)
      },
      startApiServer: async () => {
        if (!running.has(apiServer)) await start(apiServerOf(plan, access))
      },
      close,
    }
  } catch (cause) {
    await close()
    throw cause
  }
}

type Plan = servers.ClusterPlan & { readonly adminToken: string }
type Server = Omit<ServerOptions, 'path' | 'logPath' | 'signal'>

const apiServer = 'kube-apiserver'

const binariesFromEnvironment = (): string => {
  const folder = process.env['EDGEWRIGHT_CLUSTER_BIN']
  if (folder === undefined) throw new Error('EDGEWRIGHT_CLUSTER_BIN is not set: see build.sh')
  return folder
}

/** Makes all files that the servers start from. */
const planIn = async (directory: string, binaries: string): Promise<Plan> => {
  await mkdir(join(directory, 'logs'))
  const certificates = await makeCertificates(join(directory, 'keys'))
  const [etcd = 0, etcdPeers = 0, apiServer = 0, controllerManager = 0] = await freePorts(4)
  const ports = { etcd, etcdPeers, apiServer, controllerManager }
  const kubeconfig = async (name: string, { certificate, key }: typeof certificates.admin) => {
    const user = { 'client-certificate': certificate, 'client-key': key }
    const path = join(directory, name)
    const server = servers.apiServerUrl(ports)
    await writeFile(path, kubeconfigOf({ server, ca: certificates.ca, user }))
    return path
  }
  await kubeconfig('kubeconfig', certificates.admin)
  const controllerKubeconfig = await kubeconfig('controllers', certificates.controllerManager)
  const adminToken = randomBytes(16).toString('hex')
  const tokensCsv = join(directory, 'keys', 'tokens.csv')
  await writeFile(tokensCsv, `${adminToken},admin,admin,system:masters\n`)
  const paths = { binaries, directory, tokensCsv, controllerKubeconfig }
  return { ...paths, certificates, ports, adminToken }
}

const startAll = async (
  plan: Plan,
  start: (server: Server) => Promise<void>,
  crds: ReadonlyArray<string>,
): Promise<ClusterAccess> => {
  const { directory, ports, adminToken } = plan
  const etcdUrl = servers.etcdUrl(ports)
  const url = servers.apiServerUrl(ports)
  const access = accessTo({ directory, url, etcdUrl, adminToken })
  await start({
    name: 'etcd',
    args: servers.etcdArgs(plan),
    isReady: async () => (await fetch(`${etcdUrl}/health`)).ok,
  })
  await start(apiServerOf(plan, access))
  for (const path of crds) {
    const args = ['--server-side', '-f', path]
    await access.kubectl(['apply', ...args])
    await access.kubectl(['wait', '--for=condition=Established', '--timeout=30s', '-f', path])
  }
  await start({
    name: 'kube-controller-manager',
    args: servers.controllerManagerArgs(plan),
    // Until it has made this account nobody can make a Pod.
    isReady: () => isFound(access, '/api/v1/namespaces/default/serviceaccounts/default'),
  })
  return access
}

const apiServerOf = (plan: Plan, access: ClusterAccess): Server => ({
  name: apiServer,
  args: servers.apiServerArgs(plan),
  isReady: () => isFound(access, '/readyz'),
})

const isFound = async ({ request }: ClusterAccess, path: string): Promise<boolean> =>
  (await request({ path })).status === 200
