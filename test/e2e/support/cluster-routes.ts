import type { RouteStore } from '../../../src/ports/route-store.js'
import type { RouteStoreWorld, Said } from '../../contract/route-store.js'
import { presentOf } from '../../support/memory-store-world.js'
import type { ClusterAccess } from '../cluster/cluster.js'

/** EdgeRoutes of a namespace, as somebody who may do everything writes them. */
export interface ClusterRoutes {
  readonly create: (
    name: string,
    spec: unknown,
    finalizers?: ReadonlyArray<string>,
  ) => Promise<void>
  /** Replaces its spec, or creates it. */
  readonly put: (name: string, spec: unknown) => Promise<void>
  /** As it is now, in JSON. */
  readonly get: (name: string) => Promise<Readonly<Record<string, unknown>> | undefined>
  readonly hold: (name: string, finalizers: ReadonlyArray<string>) => Promise<void>
  readonly say: (name: string, conditions: ReadonlyArray<Said>) => Promise<void>
  readonly remove: (name: string) => Promise<void>
}

const envelope = { apiVersion: 'net.10xdev.io/v1', kind: 'EdgeRoute' }

export const clusterRoutes = (cluster: ClusterAccess, namespace: string): ClusterRoutes => {
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes`
  const ask = async (method: string, target: string, body?: unknown): Promise<unknown> => {
    const contentType = method === 'PATCH' ? { contentType: 'application/json-patch+json' } : {}
    const answer = await cluster.request({ method, path: target, body, ...contentType })
    if (answer.status < 300) return answer.body
    throw new Error(`${method} ${target}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  const add = async (name: string, at: string, value: unknown, subresource = ''): Promise<void> => {
    await ask('PATCH', `${path}/${name}${subresource}`, [{ op: 'add', path: at, value }])
  }
  const create: ClusterRoutes['create'] = async (name, spec, finalizers = []) => {
    await ask('POST', path, { ...envelope, metadata: { namespace, name, finalizers }, spec })
  }
  const get: ClusterRoutes['get'] = async (name) => {
    const { status, body } = await cluster.request({ path: `${path}/${name}` })
    if (status === 404) return undefined
    if (status === 200) return body as Readonly<Record<string, unknown>>
    throw new Error(`${path}/${name}: ${status} ${JSON.stringify(body)}`)
  }
  return {
    create,
    get,
    put: async (name, spec) =>
      (await get(name)) === undefined ? create(name, spec) : add(name, '/spec', spec),
    hold: (name, finalizers) => add(name, '/metadata/finalizers', finalizers),
    say: (name, conditions) => add(name, '/status', { conditions }, '/status'),
    remove: async (name) => {
      await ask('DELETE', `${path}/${name}`)
    },
  }
}

const answers = (code: number): unknown => ({ respond: { code } })

/** Writes to objects of a namespace, whose names begin with `prefix`. */
export const clusterStoreWorld = (
  routes: ClusterRoutes,
  store: RouteStore,
  prefix: string,
): RouteStoreWorld => {
  const named = (name: string): string => `${prefix}-${name}`
  return {
    store,
    create: (name, finalizers) => routes.create(named(name), answers(200), finalizers),
    see: async (name) => {
      const object = await routes.get(named(name))
      return object && presentOf(object)
    },
    change: (name, code) => routes.put(named(name), answers(code)),
    say: (name, conditions) => routes.say(named(name), conditions),
    hold: (name, finalizers) => routes.hold(named(name), finalizers),
    remove: (name) => routes.remove(named(name)),
  }
}
