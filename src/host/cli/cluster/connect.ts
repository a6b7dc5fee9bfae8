import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { packageJson } from '../package.js'
import {
  type KubeConfigFrom,
  type KubernetesAdapter,
  type KubernetesClient,
  loadKubernetes,
} from '../peers.js'
import type { World } from '../world.js'
import type { ClusterOptions } from './options.js'

/** A cluster that can be asked; nothing says yet that it answers. */
export interface Cluster {
  readonly k8s: KubernetesAdapter
  readonly client: KubernetesClient
  /** Where the control plane keeps what is its own. */
  readonly ownNamespace: string
}

/** Where a Pod finds what its service account is. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The namespace of the manifests that come with edgewright. */
const namespaceOfManifests = 'edgewright'

/** Finds the cluster that is meant. Left says what is missing or wrong, and what to do. */
export const connectCluster = async (
  options: ClusterOptions,
  { env }: Pick<World, 'env'>,
): Promise<Either<string, Cluster>> => {
  const k8s = await loadKubernetes()
  if (E.isLeft(k8s)) return k8s
  const { loadKubeConfig, connectKubernetes } = k8s.right
  const from = kubeConfigFrom(options, env)
  const kubeConfig = await loadKubeConfig(from)
  if (E.isLeft(kubeConfig)) return kubeConfig
  const { version } = packageJson()
  const client = connectKubernetes({
    kubeConfig: kubeConfig.right,
    userAgent: `edgewright/${version}`,
  })
  const ownNamespace = options.ownNamespace ?? (await ownNamespaceOf(from, env))
  return E.right({ k8s: k8s.right, client, ownNamespace })
}

/**
 * Where credentials come from: what was named, then what the environment names, then the Pod that this runs in,
 * then the place where kubectl keeps them. A context is one of a kubeconfig, so that no Pod is looked at.
 */
export const kubeConfigFrom = (
  { kubeconfig, context }: Pick<ClusterOptions, 'kubeconfig' | 'context'>,
  env: World['env'],
): KubeConfigFrom => {
  const named = kubeconfig === undefined ? listed(env['KUBECONFIG'] ?? '') : [kubeconfig]
  if (named.length > 0) return { _tag: 'Files', paths: named, context }
  const host = env['KUBERNETES_SERVICE_HOST'] ?? ''
  if (host !== '' && context === undefined)
    return { _tag: 'InCluster', host, port: env['KUBERNETES_SERVICE_PORT'] ?? '443' }
  const home = env['HOME'] ?? homedir()
  return { _tag: 'Files', paths: [join(home, '.kube', 'config')], context }
}

const listed = (paths: string): ReadonlyArray<string> =>
  paths.split(delimiter).filter((path) => path !== '')

const ownNamespaceOf = async ({ _tag }: KubeConfigFrom, env: World['env']): Promise<string> => {
  const named = env['POD_NAMESPACE'] ?? ''
  if (named !== '') return named
  if (_tag === 'Files') return namespaceOfManifests
  const text = await readFile(join(serviceAccountDirectory, 'namespace'), 'utf8').catch(() => '')
  return text.trim() === '' ? namespaceOfManifests : text.trim()
}
