import * as E from 'fp-ts/lib/Either.js'
import { printable, showAge, showName } from '../admin/words.js'
import type { Cluster } from './connect.js'

/** Whether a control plane is at work in the cluster, as its Lease tells. */
export type ControlPlane =
  | ({ readonly state: 'Live' } & Holder)
  /** It has ended without a word, or cannot reach the API server. */
  | ({ readonly state: 'Expired' } & Holder)
  | { readonly state: 'Absent' }
  /** The Lease cannot be read. */
  | { readonly state: 'Unknown'; readonly message: string }

interface Holder {
  readonly holder: string
  /** When it was last heard of, by its own clock, RFC 3339; empty if its Lease does not say. */
  readonly heardAt: string
}

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
    case 'Expired': {
      const { _tag: state, holder, renewedAt: heardAt } = lease.right
      return { state, holder, heardAt }
    }
  }
}

/** In a few words, behind `control plane:`, at the time `now`. */
export const showControlPlane = (
  controlPlane: ControlPlane,
  ownNamespace: string,
  now: string,
): string => {
  const ago = (words: string, holder: Holder): string => showAgo(words, holder, now)
  switch (controlPlane.state) {
    case 'Live':
      return `at work (${showName(controlPlane.holder)})${ago(', last heard of', controlPlane)}`
    case 'Expired':
      return `${showName(controlPlane.holder)} has not been heard of for too long${ago(', last', controlPlane)}`
    case 'Absent':
      return `none is at work in the namespace ${showName(ownNamespace)}`
    case 'Unknown':
      return `nobody knows: ${printable(controlPlane.message)}`
  }
}

/** One that was killed a moment ago counts as being at work still: its age lets people see it. */
const showAgo = (words: string, { heardAt }: Holder, now: string): string =>
  Number.isNaN(Date.parse(heardAt)) ? '' : `${words} ${showAge(heardAt, now)} ago`
