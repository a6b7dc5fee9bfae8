import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Cluster } from '../cluster/cluster.js'
import type { ServiceAccount } from '../cluster/tokens.js'
import { knowsAllAnnotation } from '../../../src/adapters/k8s/lease/record.js'
import { microTimeOf } from '../../../src/adapters/k8s/objects/micro-time.js'
import type { RecordingBackends } from '../../support/deletion/backends.js'
import { eventually } from '../../support/envoy.js'
import {
  type DeletionEnvoy,
  type RigEnvoyOptions,
  startBehindWire,
} from '../../support/deletion/wired-envoy.js'
import { freshAddress } from './addresses.js'
import { type EdgeRouteObject, type Manifest, servedRoute } from './edge-objects.js'
import { nameOf } from './namespace.js'
import { type Program, startProgram } from './program.js'
import { type RouteWatch, watchRoutes } from './watch-routes.js'

export interface EdgeOptions {
  /** The beginning of the names of its namespaces. */
  readonly name: string
  /** Another control plane, whose routes are the ones of this one too; routes of its own if absent. */
  readonly beside?: Edge
  /** More for `serve`. */
  readonly args?: ReadonlyArray<string>
  /** What the control plane dials; the API server itself if absent. */
  readonly url?: string
  /** How long its tokens live, in milliseconds; a day if absent. */
  readonly tokenLifeMs?: number
}

/**
 * A control plane at work on a cluster: `edgewright serve` as a process of its own, with the permissions of `deploy/` and
 * no others, in a namespace of its own, for the routes of another one.
 */
export interface Edge {
  readonly cluster: Cluster
  /** Of the routes, and of their Services. */
  readonly namespace: string
  /** Of the control plane. */
  readonly system: string
  readonly account: ServiceAccount
  /** Of the control plane's account. */
  readonly kubeconfig: string
  readonly tokenFile: string
  readonly program: Program
  /** Applies all of them with kubectl. */
  readonly apply: (...manifests: ReadonlyArray<Manifest>) => Promise<void>
  /** Applies a route for the prefix of its name, to a backend of its own; returns the address of that. */
  readonly applyServed: (name: string, backends: RecordingBackends) => Promise<string>
  readonly get: (name: string) => Promise<EdgeRouteObject | undefined>
  readonly list: () => Promise<ReadonlyArray<EdgeRouteObject>>
  /** Deletes a route with kubectl, without waiting until it is gone. */
  readonly remove: (...names: ReadonlyArray<string>) => Promise<void>
  readonly watch: () => Promise<RouteWatch>
  /** Starts an Envoy with two workers behind a wire of its own. */
  readonly startEnvoy: (options: RigEnvoyOptions) => Promise<DeletionEnvoy>
  /**
   * Starts the program anew. A control plane that knows of no Envoy lets go of nothing for a minute; one that knows who
   * there is goes on as soon as it has heard from all.
   */
  readonly restart: () => Promise<void>
  /**
   * To be called while the program does not run: says in its Lease that it has ended just now, and has known all Envoys. One that
   * is stopped in its first minute, or is killed, does not say so, and the next one waits for a minute.
   */
  readonly vouch: () => Promise<void>
  /** Writes a token that lives so long into the file that the control plane reads. */
  readonly renewToken: (lifeMs: number) => Promise<void>
  /** Ends everything, and rejects where something was wrong with the program. */
  readonly stop: () => Promise<void>
}

const dayMs = 86_400_000

/** Starts one. Whoever starts it stops it. */
export const startEdge = async (cluster: Cluster, options: EdgeOptions): Promise<Edge> => {
  const own = nameOf(options.name)
  const namespace = options.beside?.namespace ?? own
  const system = `${own}-system`
  const made = options.beside === undefined ? [namespace, system] : [system]
  await Promise.all(made.map((name) => cluster.kubectl(['create', 'ns', name])))
  const account = await permitted(cluster, system)
  const tokenFile = join(cluster.directory, `${system}.token`)
  const renewToken = (lifeMs: number): Promise<void> =>
    writeFile(tokenFile, cluster.mintToken(account, lifeMs))
  await renewToken(options.tokenLifeMs ?? dayMs)
  const kubeconfig = await cluster.writeKubeconfig(system, { tokenFile }, options.url)
  const program = await startProgram({
    args: [
      ...['--kubernetes', '--own-namespace', system, '--namespace', namespace],
      ...['--listener', 'http=127.0.0.1:0', ...(options.args ?? [])],
    ],
    kubeconfig,
  })
  const apply: Edge['apply'] = async (...items) => {
    const list = { apiVersion: 'v1', kind: 'List', items }
    await cluster.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(list))
  }
  const vouch = async (): Promise<void> => {
    const patch = {
      metadata: { annotations: { [knowsAllAnnotation]: 'true' } },
      spec: { holderIdentity: '', renewTime: microTimeOf(Date.now()) },
    }
    const lease = ['-n', system, 'patch', 'lease', 'edgewright', '--type', 'merge']
    await cluster.kubectl([...lease, '--patch', JSON.stringify(patch)])
  }
  const envoys = new Set<DeletionEnvoy>()
  const watches = new Set<RouteWatch>()
  const routesPath = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes`
  return {
    ...{ cluster, namespace, system, account, kubeconfig, tokenFile, program, renewToken },
    apply,
    applyServed: async (name, { port }) => {
      const address = freshAddress()
      await apply(...servedRoute(namespace, name, port, address))
      return address
    },
    get: async (name) => {
      const { status, body } = await cluster.request({ path: `${routesPath}/${name}` })
      return status === 200 ? (body as EdgeRouteObject) : undefined
    },
    list: async () => {
      const { body } = await cluster.request({ path: routesPath })
      return (body as { readonly items: ReadonlyArray<EdgeRouteObject> }).items
    },
    remove: async (...names) => {
      await cluster.kubectl(['-n', namespace, 'delete', 'edgeroute', '--wait=false', ...names])
    },
    watch: async () => {
      const watch = await watchRoutes(cluster, namespace)
      watches.add(watch)
      return watch
    },
    startEnvoy: async (envoyOptions) => {
      const envoy = await startBehindWire(envoyOptions, () => program.xds)
      envoys.add(envoy)
      return envoy
    },
    restart: async () => {
      await program.stop()
      await vouch()
      await program.start()
    },
    vouch,
    stop: async () => {
      for (const watch of watches) watch.stop()
      await Promise.all([...envoys].map((envoy) => (envoy.resume(), envoy.stop())))
      try {
        await program.end()
      } finally {
        if (options.beside === undefined) await releaseAll(cluster, namespace)
        await forgetAll(cluster, made, system)
      }
    },
  }
}

/** Starts one for the test that runs. */
export const startTestEdge = async (cluster: Cluster, options: EdgeOptions): Promise<Edge> => {
  const edge = await startEdge(cluster, options)
  onTestFinished(edge.stop)
  return edge
}

interface Named extends Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Applies `deploy/rbac.yaml` under names of its own, and returns the account that it permits. */
const permitted = async (cluster: Cluster, system: string): Promise<ServiceAccount> => {
  const items = parseAllDocuments(readFileSync('deploy/rbac.yaml', 'utf8')).map(
    (document) => document.toJS() as Named,
  )
  const renamed = items.map((item) => ({
    ...item,
    metadata: {
      ...item.metadata,
      ...(item.metadata.namespace === undefined
        ? { name: `${item.metadata.name}-${system}` }
        : { namespace: system }),
    },
    ...('roleRef' in item && { roleRef: roleOf(item, system) }),
    ...('subjects' in item && {
      subjects: [{ kind: 'ServiceAccount', name: 'edgewright', namespace: system }],
    }),
  }))
  const list = { apiVersion: 'v1', kind: 'List', items: renamed }
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(list))
  const path = `/api/v1/namespaces/${system}/serviceaccounts/edgewright`
  const { body } = await cluster.request({ path })
  const { metadata } = body as { readonly metadata: { readonly uid: string } }
  return { namespace: system, name: 'edgewright', uid: metadata.uid }
}

const roleOf = (item: Named, system: string): Manifest => {
  const roleRef = item['roleRef'] as { readonly kind: string; readonly name: string }
  return roleRef.kind === 'ClusterRole'
    ? { ...roleRef, name: `${roleRef.name}-${system}` }
    : roleRef
}

/** How long it takes a namespace to go. */
const endMs = 60_000

/** Nobody takes the finalizers off any more: what is left would keep its namespace, and be seen by later tests. */
const releaseAll = async (cluster: Cluster, namespace: string): Promise<void> => {
  await eventually(
    () => cluster.request({ path: '/readyz' }),
    ({ status }) => status === 200,
    endMs,
  )
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes`
  const { body } = await cluster.request({ path })
  const { items } = body as { readonly items: ReadonlyArray<EdgeRouteObject> }
  const contentType = 'application/merge-patch+json'
  const patch = { method: 'PATCH', contentType, body: { metadata: { finalizers: null } } }
  for (let at = 0; at < items.length; at += 16)
    await Promise.all(
      items
        .slice(at, at + 16)
        .map(({ metadata: { name } }) => cluster.request({ ...patch, path: `${path}/${name}` })),
    )
}

const forgetAll = async (
  cluster: Cluster,
  namespaces: ReadonlyArray<string>,
  system: string,
): Promise<void> => {
  await cluster.kubectl(['delete', 'ns', '--ignore-not-found', '--wait=false', ...namespaces])
  const scoped = ['clusterrole', 'clusterrolebinding'].map((kind) => `${kind}/edgewright-${system}`)
  await cluster.kubectl(['delete', '--ignore-not-found', ...scoped])
}
