import * as E from 'fp-ts/lib/Either.js'
import { printable, showName } from '../admin/words.js'
import type { Cluster } from './connect.js'

/** Whether a control plane is at work in the cluster, as its Lease tells. */
export type ControlPlane =
  | { readonly state: 'Live'; readonly holder: string }
  /** It has ended without a word, or cannot reach the API server. */
  | { readonly state: 'Expired'; readonly holder: string }
  | { readonly state: 'Absent' }
  /** The Lease cannot be read. */
  | { readonly state: 'Unknown'; readonly message: string }

/** Looks whether a control plane is at work. Never rejects. */
export const lookForControlPlane = async (
  { k8s, client, ownNamespace }: Cluster,
  signal: AbortSignal,
): Promise<ControlPlane> => {
  const lease = await k8s.readLease(client, { namespace: ownNamespace }, signal)()
  if (E.isLeft(lease)) return { state: 'Unknown', message: lease.left.message }
  switch (lease.right._tag) {
    case 'Absent':
      return { state: 'Absent' }
    case 'Live':
      return { state: 'Live', holder: lease.right.holder }
    case 'Expired':
      return { state: 'Expired', holder: lease.right.holder }
  }
}

/** In a few words, behind `control plane:`. */
export const showControlPlane = (controlPlane: ControlPlane, ownNamespace: string): string => {
  const where = `in the namespace ${showName(ownNamespace)}`
  switch (controlPlane.state) {
    case 'Live':
      return `at work (${showName(controlPlane.holder)})`
    case 'Expired':
      return `${showName(controlPlane.holder)} has not been heard of for too long`
    case 'Absent':
      return `none is at work ${where}`
    case 'Unknown':
      return `nobody knows: ${printable(controlPlane.message)}`
  }
}
