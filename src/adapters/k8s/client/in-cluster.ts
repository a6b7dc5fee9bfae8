import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { type KubeConfigParts, tokenIn } from './kube-config-files.js'
import { readText } from './read-text.js'

/** As a Pod of the cluster. */
export interface InCluster {
  readonly _tag: 'InCluster'
  /** What Kubernetes says to a Pod by `KUBERNETES_SERVICE_HOST`. */
  readonly host: string
  /** The same by `KUBERNETES_SERVICE_PORT`. */
  readonly port: string
  /**
   * Has `ca.crt`, `token` and `namespace`; `/var/run/secrets/kubernetes.io/serviceaccount` if
   * absent.
   */
  readonly directory?: string | undefined
}

/** Where Kubernetes puts what a Pod needs to know, in every container. */
const defaultDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The API server of the cluster that this process runs in, as the service account of its Pod. */
export const inCluster = async ({
  host,
  port,
  directory = defaultDirectory,
}: InCluster): Promise<E.Either<string, KubeConfigParts>> => {
  if (host === '' || port === '')
    return E.left(
      'this is no Pod of a cluster, since no API server is named to it. Name a kubeconfig.',
    )
  const [caFile, tokenFile] = [join(directory, 'ca.crt'), join(directory, 'token')]
  for (const path of [caFile, tokenFile]) {
    const read = await readText(path)
    if (E.isLeft(read))
      return E.left(
        `cannot read ${path}: ${read.left.why}. Does the Pod have automountServiceAccountToken?`,
      )
  }
  const read = await readText(join(directory, 'namespace'))
  const namespace = E.isRight(read) ? read.right.trim() : ''
  const name = 'in-cluster'
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  return E.right({
    clusters: [{ name, server, caFile, skipTLSVerify: false }],
    users: [{ name, user: { name, ...tokenIn(tokenFile) } }],
    contexts: [{ name, cluster: name, user: name, ...(namespace !== '' && { namespace }) }],
    currentContext: name,
  })
}
