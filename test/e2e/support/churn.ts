import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { below, oneOf, type Prng, prngOf } from '../../support/churn/prng.js'
import type { RecordingBackends } from '../../support/deletion/backends.js'
import type { DeletionEnvoy } from '../../support/deletion/wired-envoy.js'
import { ask } from '../../support/traffic.js'
import { freshAddress } from './addresses.js'
import type { Edge } from './edge.js'
import { type EdgeRouteObject, isProgrammed, prefixRoute, serviceWith } from './edge-objects.js'
import { type Judged, judgeDeletions } from './judge-deletions.js'

export interface ChurnOptions {
  readonly edge: Edge
  readonly backends: RecordingBackends
  readonly envoys: () => ReadonlyArray<DeletionEnvoy>
  /** How many routes there are at a time. */
  readonly routes: number
  readonly seed: number
  /** Between two changes, in milliseconds. */
  readonly pauseMs: number
  /** How the names of its routes and Services begin; `r` if absent. */
  readonly prefix?: string
}

export interface Churn {
  /** Ends the changes. What the API server was never told of did not happen. */
  readonly stop: () => Promise<void>
  readonly counts: () => { readonly changes: number; readonly failures: number }
  /** What was seen of all routes of the namespace that are gone from the API server; see `judgeDeletions`. */
  readonly judged: () => Promise<Judged>
  /**
   * Waits until every Envoy serves just what the API server has, and nothing is left over: each route is programmed
   * and answers from its own backend, none that was deleted is there or answers.
   */
  readonly converged: (withinMs?: number) => Promise<void>
}

const services = 10
const convergesWithinMs = 120_000

/** Changes many routes, without a pause: some are made, some deleted, some sent to another backend. */
export const startChurn = async (options: ChurnOptions): Promise<Churn> => {
  const { edge, backends, envoys, routes, seed, pauseMs, prefix = 'r' } = options
  const prng = prngOf(seed)
  const addresses = Array.from({ length: services }, freshAddress)
  await edge.apply(
    ...addresses.flatMap((address, index) =>
      serviceWith(edge.namespace, `${prefix}-svc-${index}`, backends.port, [address]),
    ),
  )
  const state = { isOver: false, made: 0, changes: 0, failures: 0 }
  const names: Array<string> = []
  const deleted = new Set<string>()
  const judged = await judgeDeletions(edge, envoys)
  const act = actor(edge, prng, prefix)
  const make = async (): Promise<void> => {
    const name = `${prefix}-${(state.made += 1)}`
    if (await act.create(name)) names.push(name)
  }
  const change = async (): Promise<void> => {
    if (names.length < routes) return make()
    const name = oneOf(prng, names)
    if (prng() < 0.5) return act.update(name)
    if (await act.remove(name)) {
      names.splice(names.indexOf(name), 1)
      deleted.add(name)
    }
  }
  for (let count = 0; count < routes; count += 8)
    await Promise.all(Array.from({ length: Math.min(8, routes - count) }, make))
  const run = async (): Promise<void> => {
    while (!state.isOver) {
      state.changes += 1
      await change().catch(() => (state.failures += 1))
      await sleep(pauseMs)
    }
  }
  const running = run()
  return {
    stop: async () => {
      state.isOver = true
      await running
    },
    counts: () => ({ changes: state.changes, failures: state.failures }),
    judged,
    converged: async (withinMs = convergesWithinMs) => {
      const deadline = performance.now() + withinMs
      let complaints: ReadonlyArray<string> = ['it was never looked at']
      while (complaints.length > 0 && performance.now() < deadline) {
        complaints = await complaintsOf(edge, envoys(), { prefix, addresses, deleted })
        if (complaints.length > 0) await sleep(500)
      }
      expect(complaints.slice(0, 10)).toEqual([])
    },
  }
}

interface Actor {
  readonly create: (name: string) => Promise<boolean>
  readonly update: (name: string) => Promise<void>
  readonly remove: (name: string) => Promise<boolean>
}

/** Writes to the API server itself. What fails may have happened: what there is afterwards is what counts. */
const actor = ({ cluster, namespace }: Edge, prng: Prng, prefix: string): Actor => {
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes`
  const service = (): string => `${prefix}-svc-${below(prng, services)}`
  return {
    create: async (name) => {
      const body = prefixRoute(namespace, name, service())
      return (await cluster.request({ method: 'POST', path, body })).status === 201
    },
    update: async (name) => {
      const { spec } = prefixRoute(namespace, name, service())
      const contentType = 'application/merge-patch+json'
      const body = { spec }
      await cluster.request({ method: 'PATCH', path: `${path}/${name}`, contentType, body })
    },
    remove: async (name) =>
      (await cluster.request({ method: 'DELETE', path: `${path}/${name}` })).status === 200,
  }
}

interface Expected {
  readonly prefix: string
  readonly addresses: ReadonlyArray<string>
  readonly deleted: ReadonlySet<string>
}

const complaintsOf = async (
  edge: Edge,
  envoys: ReadonlyArray<DeletionEnvoy>,
  { prefix, addresses, deleted }: Expected,
): Promise<ReadonlyArray<string>> => {
  const objects = (await edge.list()).filter(({ metadata }) =>
    metadata.name.startsWith(`${prefix}-`),
  )
  const there = new Set(objects.map(({ metadata }) => metadata.name))
  const unsaid = objects.flatMap((object) =>
    object.metadata.deletionTimestamp !== undefined
      ? [`${object.metadata.name} is still being deleted`]
      : isProgrammed(object)
        ? []
        : [`${object.metadata.name} is not programmed`],
  )
  if (unsaid.length > 0) return unsaid
  const wrong: Array<string> = []
  for (const { id, port: portOf } of envoys) {
    const port = await portOf()
    const expectAnswer = async (name: string, expected: string): Promise<void> => {
      const answer = await ask(port, `/${name}`).catch(String)
      if (answer !== expected) wrong.push(`${id} answers ${name} with ${answer}, not ${expected}`)
    }
    for (const object of objects)
      await expectAnswer(object.metadata.name, `200 ${addresses[serviceOf(object)]}`)
    for (const name of deleted) if (!there.has(name)) await expectAnswer(name, '404')
  }
  return wrong
}

const serviceOf = ({ spec }: EdgeRouteObject): number => {
  const [backend] = spec.backends ?? []
  return backend !== undefined && 'service' in backend
    ? Number(backend.service.name.split('-').at(-1))
    : NaN
}
