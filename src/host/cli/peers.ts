import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type * as Files from '../../adapters/files/index.js'
import type * as Kubernetes from '../../adapters/k8s/index.js'
import type * as Memory from '../../adapters/memory/index.js'
import type * as Xds from '../../adapters/xds/index.js'
import { packageJson } from './package.js'

export type {
  ClusterEvent,
  ForgetAnswer,
  InspectProblem,
  KubeConfigFrom,
  KeptLease,
  KubernetesClient,
  KubernetesEvents,
  LeaseFact,
  LeaseFound,
  SeenPod,
  Uninstalled,
} from '../../adapters/k8s/index.js'
export type { XdsServer } from '../../adapters/xds/index.js'

export type XdsAdapter = typeof Xds
export type FilesAdapter = typeof Files
export type MemoryAdapter = typeof Memory
export type KubernetesAdapter = typeof Kubernetes

/** Loads the xDS server; left says how to install what it needs. */
export const loadXds = (): Promise<Either<string, typeof Xds>> =>
  load(() => import('../../adapters/xds/index.js'), '@grpc/grpc-js')

/** Loads the source that reads YAML files; left says how to install what it needs. */
export const loadFiles = (): Promise<Either<string, typeof Files>> =>
  load(() => import('../../adapters/files/index.js'), 'yaml')

/** Loads what speaks to clusters; left says how to install what it needs. */
export const loadKubernetes = (): Promise<Either<string, typeof Kubernetes>> =>
  load(() => import('../../adapters/k8s/index.js'), '@kubernetes/client-node')

/** Loads the adapters in memory, only for those who use them. */
export const loadMemory = (): Promise<typeof Memory> => import('../../adapters/memory/index.js')

const load = async <A>(
  importModule: () => Promise<A>,
  peer: string,
): Promise<Either<string, A>> => {
  try {
    return E.right(await importModule())
  } catch (cause) {
    if (isMissing(cause, peer)) return E.left(missingPeer(peer))
    throw cause
  }
}

/** Node names the package that an import did not find in the message alone. */
export const isMissing = (cause: unknown, peer: string): boolean =>
  cause instanceof Error &&
  'code' in cause &&
  cause.code === 'ERR_MODULE_NOT_FOUND' &&
  cause.message.includes(`'${peer}'`)

export const missingPeer = (peer: string): string => {
  const wanted = `${peer}@'${packageJson().peerDependencies[peer] ?? '*'}'`
  return `this needs the package ${peer}, which is not installed:\n\n  npm install ${wanted}\n`
}
