import * as E from 'fp-ts/lib/Either.js'
import type {
  ApiObject,
  MemoryApiServer,
  Write,
} from '../../src/adapters/memory/api-server/index.js'
import { storedOf } from '../../src/adapters/k8s/informers/stored.js'
import type { StoredObject } from '../../src/core/stored-object.js'
import type { RouteStore } from '../../src/ports/route-store.js'
import type { Present, RouteStoreWorld, Said } from '../contract/route-store.js'

const keyOf = (name: string) => ({ namespace: 'shop', name })

/** An object of a server, as the contract of stores speaks of it; `read` is the source that goes with the store. */
export const presentOf = (
  object: Readonly<Record<string, unknown>>,
  read: (object: Readonly<Record<string, unknown>>) => StoredObject = storedOf,
): Present => {
  const { spec, status } = object as {
    readonly spec?: unknown
    readonly status?: { readonly conditions?: ReadonlyArray<Said> }
  }
  return { stored: read(object), spec, conditions: status?.conditions ?? [] }
}

/** Writes to a server in memory, in namespace `shop`; `see` reads as the source does that goes with the store. */
export const memoryStoreWorld = (
  server: MemoryApiServer,
  store: RouteStore,
  read?: (object: ApiObject) => StoredObject,
): RouteStoreWorld => {
  const must = (write: Write): ApiObject => {
    const answer = server.write(write)
    if (E.isLeft(answer)) throw new Error(answer.left.message)
    return answer.right
  }
  const put = (name: string, path: string, value: unknown, subresource?: 'status'): void => {
    const patch = [{ op: 'add', path, value }] as const
    must({ _tag: 'Patch', key: keyOf(name), patch, ...(subresource && { subresource }) })
  }
  return {
    store,
    create: (name, finalizers = []) => {
      const metadata = { ...keyOf(name), finalizers }
      must({ _tag: 'Create', object: { metadata, spec: { respond: { code: 200 } } } })
    },
    see: (name) => {
      const object = server.get(keyOf(name))
      return object && presentOf({ ...object }, read && (() => read(object)))
    },
    change: (name, code) => put(name, '/spec', { respond: { code } }),
    say: (name, conditions) => put(name, '/status', { conditions }, 'status'),
    hold: (name, finalizers) => put(name, '/metadata/finalizers', finalizers),
    remove: (name) => {
      must({ _tag: 'Delete', key: keyOf(name) })
    },
  }
}
