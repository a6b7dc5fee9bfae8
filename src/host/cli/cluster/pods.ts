import * as E from 'fp-ts/lib/Either.js'
import type { SeenPod } from '../peers.js'
import type { Cluster } from './connect.js'
import type { ClusterPodDocument } from './document.js'

/** What became of the Pods that node ids name. */
export interface PodsFound {
  /** `undefined` where the id names no Pod. */
  readonly of: (id: string) => ClusterPodDocument | undefined
}

/**
 * Looks for the Pods of these nodes: one list for each namespace that is named. A namespace that cannot be read is
 * said of its Pods, and keeps nothing else from being told.
 */
export const findPods = async (
  { k8s, client }: Cluster,
  ids: ReadonlyArray<string>,
  signal: AbortSignal,
): Promise<PodsFound> => {
  const namespaces = new Set(ids.flatMap((id) => k8s.podOf(id)?.namespace ?? []))
  const found = new Map<string, ReadonlyMap<string, SeenPod> | undefined>()
  for (const namespace of namespaces) {
    const pods = await k8s.inspectPods(client, namespace, signal)
    found.set(
      namespace,
      E.isLeft(pods) ? undefined : new Map(pods.right.map((pod) => [pod.name, pod])),
    )
  }
  return {
    of: (id) => {
      const named = k8s.podOf(id)
      if (named === undefined) return undefined
      const pods = found.get(named.namespace)
      const pod = pods?.get(named.name)
      const isThere = pod !== undefined && pod.uid === named.uid
      return { ...named, phase: pods === undefined ? 'Unknown' : isThere ? pod.phase : 'Gone' }
    },
  }
}
