import { finalizer, type StoredObject } from '../../../core/stored-object.js'
import type { ApiRequest } from '../api.js'
import { edgeRoutes, pathOf } from '../informers/index.js'

/** A request, without the time that is left for it. */
export type WriteRequest = Omit<ApiRequest, 'deadlineMs'>

/** A step of a JSON Patch (RFC 6902), of those that are needed here. */
export type PatchOperation =
  | { readonly op: 'add' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** Reads an object as it is now. */
export const readOf = ({ key }: Pick<StoredObject, 'key'>): WriteRequest => ({
  method: 'GET',
  path: `${pathOf(edgeRoutes, key.namespace)}/${encodeURIComponent(key.name)}`,
})

/** Adds our finalizer behind those that are there; `undefined` if it is among them. */
export const guardOf = (object: StoredObject, fieldManager: string): WriteRequest | undefined =>
  object.finalizers.includes(finalizer)
    ? undefined
    : patchOf(object, '', fieldManager, [addition(object)])

/** Takes our finalizer off; `undefined` if it is not there. */
export const releaseOf = (object: StoredObject, fieldManager: string): WriteRequest | undefined => {
  const indices = indicesOf(object.finalizers, (each) => each === finalizer)
  return indices.length === 0
    ? undefined
    : patchOf(
        object,
        '',
        fieldManager,
        indices.flatMap((index) => {
          const path = `/metadata/finalizers/${index}`
          return [{ op: 'test', path, value: finalizer } as const, { op: 'remove', path } as const]
        }),
      )
}

/** The operations come after tests that it is still the object which was seen. */
export const patchOf = (
  { key, uid, resourceVersion }: Pick<StoredObject, 'key' | 'uid' | 'resourceVersion'>,
  subresource: '' | '/status',
  fieldManager: string,
  operations: ReadonlyArray<PatchOperation>,
): WriteRequest => {
  const tests: ReadonlyArray<PatchOperation> = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
  ]
  return {
    method: 'PATCH',
    path: `${readOf({ key }).path}${subresource}`,
    query: { fieldManager },
    contentType: 'application/json-patch+json',
    body: [...tests, ...operations],
  }
}

/** A patch cannot add to a list that is not there. */
const addition = ({ finalizers }: StoredObject): PatchOperation =>
  finalizers.length === 0
    ? { op: 'add', path: '/metadata/finalizers', value: [finalizer] }
    : { op: 'add', path: '/metadata/finalizers/-', value: finalizer }

/** The last first, so that what is removed moves none of the others. */
export const indicesOf = <A>(
  items: ReadonlyArray<A>,
  isMeant: (item: A) => boolean,
): ReadonlyArray<number> => items.flatMap((item, index) => (isMeant(item) ? [index] : [])).reverse()
