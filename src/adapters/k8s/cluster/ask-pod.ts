import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient, ApiReply } from '../api.js'
import { isObject, objectIn, pathOf, pods, textIn } from '../informers/index.js'
import { saidBy } from '../reply.js'
import type { PodRef } from './pod-of.js'
import { seePod } from './pod-view.js'

/** What the API server itself says of a Pod. */
export type PodAnswer =
  /** It is gone for sure. */
  | { readonly _tag: 'Gone'; readonly why: string }
  /** Something of it may run. */
  | { readonly _tag: 'There' }
  /** Nobody knows. */
  | { readonly _tag: 'Unknown'; readonly message: string; readonly retryAfterMs: number }

/** How long the answer may take, in milliseconds: it is one small object. */
const askDeadlineMs = 10_000

/** Asks for one Pod. Without a resource version: the answer is as new as the server's own storage. */
export const askPod = async (
  client: ApiClient,
  pod: PodRef,
  signal: AbortSignal,
): Promise<PodAnswer> => {
  const path = `${pathOf(pods, pod.namespace)}/${encodeURIComponent(pod.name)}`
  const reply = await client.send({ method: 'GET', path, deadlineMs: askDeadlineMs }, signal)()
  return E.isLeft(reply)
    ? { _tag: 'Unknown', message: reply.left.message, retryAfterMs: 0 }
    : read(pod, reply.right)
}

const read = (pod: PodRef, reply: ApiReply): PodAnswer => {
  const { status, body, retryAfterMs = 0 } = reply
  if (status === 404 && saysNotFound(pod, body)) return { _tag: 'Gone', why: 'its Pod is gone' }
  const metadata = objectIn(body, 'metadata')
  const uid = textIn(metadata, 'uid')
  const isThis =
    textIn(metadata, 'namespace') === pod.namespace && textIn(metadata, 'name') === pod.name
  if (status !== 200 || !isObject(body) || !isThis || uid === undefined)
    return { _tag: 'Unknown', message: saidBy(reply) ?? `HTTP ${status}`, retryAfterMs }
  if (uid !== pod.uid) return { _tag: 'Gone', why: `another Pod has its name, with uid ${uid}` }
  const { finished } = seePod(body, undefined)
  return finished === undefined
    ? { _tag: 'There' }
    : { _tag: 'Gone', why: `its Pod has ended (${finished})` }
}

/** It must be the API server that says so, of this very Pod: a proxy on the way knows other things not to be found. */
const saysNotFound = ({ name }: PodRef, body: unknown): boolean => {
  if (!isObject(body) || body.kind !== 'Status' || body.reason !== 'NotFound') return false
  const details = objectIn(body, 'details')
  return details.kind === 'pods' && details.name === name
}
