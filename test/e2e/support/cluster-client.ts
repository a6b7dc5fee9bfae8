import * as E from 'fp-ts/lib/Either.js'
import { afterAll, beforeAll } from 'vitest'
import type { ApiClient } from '../../../src/adapters/k8s/api.js'
import {
  connectKubernetes,
  type KubernetesClient,
  loadKubeConfig,
} from '../../../src/adapters/k8s/client/index.js'
import type { ClusterAccess } from '../cluster/cluster.js'

/**
 * Our own client of the cluster, for a whole test file, as somebody who may do everything or as a kubeconfig says. Call
 * it at the top of the file; it can be used when tests run.
 */
export const clusterClient = (
  cluster: ClusterAccess,
  kubeconfigOf: () => string | Promise<string> = () => cluster.kubeconfig,
): ApiClient => {
  let client: KubernetesClient | undefined
  const connected = (): KubernetesClient => {
    if (client === undefined) throw new Error('there is no client before the tests run')
    return client
  }
  beforeAll(async () => {
    client = await connectTo(await kubeconfigOf())
  })
  afterAll(() => client?.close())
  return {
    send: (request, signal) => () => connected().send(request, signal)(),
    stream: (stream, onLine, signal) => () => connected().stream(stream, onLine, signal)(),
  }
}

/** Our own client of what a kubeconfig names. Whoever connects it closes it. */
export const connectTo = async (kubeconfig: string): Promise<KubernetesClient> => {
  const loaded = await loadKubeConfig({ _tag: 'Files', paths: [kubeconfig] })
  if (E.isLeft(loaded)) throw new Error(loaded.left)
  return connectKubernetes({ kubeConfig: loaded.right })
}
