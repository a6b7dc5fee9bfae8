import * as E from 'fp-ts/lib/Either.js'
import type { KubeCluster, KubeConfig } from './kube-config.js'

/** A cluster, and the address of its API server. */
export interface Target {
  readonly cluster: KubeCluster
  readonly server: URL
}

/**
 * The current cluster, and the address of its API server. A left says why there is none that we can
 * use, and what to do, for people.
 */
export const targetOf = (kubeConfig: KubeConfig): E.Either<string, Target> => {
  const cluster = kubeConfig.getCurrentCluster()
  if (cluster === null)
    return E.left('the kubeconfig has no current cluster. Set current-context, or name a context.')
  const { name, server, proxyUrl } = cluster
  if (!URL.canParse(server) || !['http:', 'https:'].includes(new URL(server).protocol))
    return E.left(
      `the server "${server}" of cluster "${name}" is no address: write https://HOST:PORT.`,
    )
  // Passing it by would send credentials on another way than somebody chose.
  if (typeof proxyUrl === 'string' && proxyUrl !== '')
    return E.left(
      `the proxy-url of cluster "${name}" is not supported: name a server that is reached directly.`,
    )
  return E.right({ cluster, server: new URL(server) })
}

/** As `https://10.0.0.1:6443`, with a path where there is one. */
export const showServer = ({ origin, pathname }: URL): string =>
  origin + pathname.replace(/\/+$/, '')
