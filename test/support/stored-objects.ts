import type { EdgeRoute } from '../../src/core/edge-route.js'
import { finalizer, type StoredObject } from '../../src/core/stored-object.js'

/** An object in a store, with our finalizer unless it says otherwise. */
export const anObject = (name: string, more: Partial<StoredObject> = {}): StoredObject => ({
  key: { namespace: 'test', name },
  uid: name,
  generation: 1,
  resourceVersion: '1',
  finalizers: [finalizer],
  conditions: [],
  ...more,
})

export const bare = { finalizers: [] } as const
export const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' } as const

/** The route of an object, as its source decodes it. */
export const routeOf = ({
  key,
  uid,
  generation,
  finalizers,
  dataPlane,
}: StoredObject): EdgeRoute => ({
  metadata: { ...key, uid, generation, finalizers },
  spec: {
    ...(dataPlane !== undefined && { dataPlane }),
    matches: [{ path: { prefix: `/${key.name}` } }],
    respond: { code: 200, body: `${uid} ${generation}` },
  },
})
