import { afterAll, beforeAll } from 'vitest'
import type { Cluster } from '../cluster/cluster.js'
import type { ServiceAccount } from '../cluster/tokens.js'

/** Namespaces are never used twice, not even by a test that runs again. */
export const nameOf = (prefix: string): string =>
  `${prefix}-${process.pid}-${(count += 1)}-${Date.now().toString(36)}`
let count = 0

/**
 * Gives a test file a namespace of its own, and deletes it in the end without waiting for that. Call it at the top of
 * the file; the name is known at once, the namespace is there when tests run.
 */
export const ownNamespace = (cluster: Cluster, prefix: string): string => {
  const name = nameOf(prefix)
  beforeAll(async () => {
    await cluster.kubectl(['create', 'namespace', name])
  })
  afterAll(async () => {
    await cluster.kubectl(['delete', 'namespace', name, '--wait=false'])
  })
  return name
}

interface Identified {
  readonly metadata: { readonly uid: string }
}

/** Makes a service account that may do nothing. */
export const makeServiceAccount = async (
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<ServiceAccount> => {
  const text = await cluster.kubectl(['-n', namespace, 'create', 'sa', name, '-o', 'json'])
  const { metadata } = JSON.parse(text) as Identified
  return { namespace, name, uid: metadata.uid }
}
