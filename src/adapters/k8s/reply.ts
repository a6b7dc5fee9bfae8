import type { ApiReply } from './api.js'
import { isList, isObject, type JsonObject, objectIn, textIn } from './reflector/json.js'

/** What a server says to people in a reply that is a `Status`; `undefined` if it says nothing. */
export const saidBy = ({ body }: ApiReply): string | undefined =>
  isObject(body) ? textIn(body, 'message') : undefined

/** Whether it was done. */
export const isDone = ({ status }: Pick<ApiReply, 'status'>): boolean =>
  status >= 200 && status < 300

/** Whether who asks is not known to the server, or may not do that: only people can change it. */
export const isDenied = ({ status }: Pick<ApiReply, 'status'>): boolean =>
  status === 401 || status === 403

/** Whether the server has too much to do, or trouble of its own: the same could go better later. */
export const isPassing = ({ status }: Pick<ApiReply, 'status'>): boolean =>
  status === 429 || status >= 500

/** Whether this is an object of Kubernetes, or a list of such: only these have a version. */
export const isVersioned = (body: unknown): body is JsonObject =>
  isObject(body) && (textIn(objectIn(body, 'metadata'), 'resourceVersion') ?? '') !== ''

/**
 * What a list has on it; `undefined` of what is no list, such as a proxy may send in its place: that says nothing of
 * what is there. (An empty list may be `null`, as Go writes it.)
 */
export const itemsOn = ({ body }: Pick<ApiReply, 'body'>): ReadonlyArray<unknown> | undefined => {
  const items = isVersioned(body) ? (body.items ?? []) : undefined
  return isList(items) ? items : undefined
}
