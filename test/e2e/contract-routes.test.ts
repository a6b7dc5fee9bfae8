import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiClient } from '../../src/adapters/k8s/api.js'
import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import { kubernetesRoutes } from '../../src/adapters/k8s/route-source.js'
import { memoryApiServer, memoryRoutes } from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { conditionTypes } from '../../src/core/status.js'
import type { RouteSource } from '../../src/ports/route-source.js'
import { routeSourceContract } from '../contract/route-source.js'
import { routeStoreContract, type RouteStoreWorld, type Said } from '../contract/route-store.js'
import { memoryStoreWorld, presentOf } from '../support/memory-store-world.js'
import { clusterClient } from './support/cluster-client.js'
import { clusterRoutes, clusterStoreWorld } from './support/cluster-routes.js'
import { ownNamespace } from './support/namespace.js'
import { partlyTheirs, statusMoves, writeAsOther } from './support/status-writers.js'
import { partlyOthers, playBoth, storeMoves } from './support/store-moves.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'contract')
const client = clusterClient(cluster)

let worlds = 0

const storeWorld = (): RouteStoreWorld => {
  worlds += 1
  const routes = clusterRoutes(cluster, namespace)
  return clusterStoreWorld(routes, kubernetesRouteStore(client), `w${worlds}`)
}

routeStoreContract('kubernetes', storeWorld)

/** The contract speaks of routes and problems alone. */
const withoutObjects = (source: RouteSource): RouteSource => ({
  watch: (onState, signal) =>
    source.watch(({ routes, problems }) => onState({ routes, problems }), signal),
})

const namespaces = '/api/v1/namespaces'

/** A namespace for one source, which sees all that is in it. */
const emptyNamespace = async (): Promise<string> => {
  worlds += 1
  const name = `${namespace}-${worlds}`
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  expect((await cluster.request({ method: 'POST', path: namespaces, body })).status).toBe(201)
  onTestFinished(async () => {
    await cluster.request({ method: 'DELETE', path: `${namespaces}/${name}` })
  })
  return name
}

const answers = (code: number): unknown => ({ respond: { code } })

/** An API server takes what the schema cannot tell, such as a regex that is none. */
const useless = { ...{ matches: [{ path: { regex: '(' } }] }, respond: { code: 200 } }

routeSourceContract('kubernetes', async (routes) => {
  const own = await emptyNamespace()
  const { put, remove } = clusterRoutes(cluster, own)
  for (const [name, code] of Object.entries(routes)) await put(name, answers(code))
  return {
    source: withoutObjects(kubernetesRoutes(client, { namespaces: [own] })),
    put: (name, code) => put(name, answers(code)),
    remove,
    spoil: (name) => put(name, useless),
  }
})

test('whatever is written in whatever order, the server in memory and the real one do the same', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(storeMoves, async (moves) => {
      const clock = virtualClock()
      const server = memoryApiServer({ clock })
      const inMemory = memoryStoreWorld(server, memoryRoutes(server, { clock }).store)
      await playBoth(moves, inMemory, storeWorld(), (result) =>
        seen.set(result, (seen.get(result) ?? 0) + 1),
      )
    }),
    { numRuns: 100, examples: [[partlyOthers]] },
  )
  // Each of these was the answer of some write, so that it is compared at all.
  for (const result of ['done', 'Conflict', 'NotFound', 'Refused'])
    expect(seen.get(result) ?? 0, result).toBeGreaterThan(2)
})

const pathOf = (name: string): string =>
  `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes/${name}`

const byType = (conditions: ReadonlyArray<Said>): ReadonlyArray<Said> =>
  [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1))

const isOurs = ({ type }: Said): boolean => conditionTypes.some((ours) => ours === type)

test('whoever has written our conditions, and however, ours are then said, and those of others stay', async () => {
  const state = { refusals: 0 }
  const counting: ApiClient = {
    ...client,
    send: (request, signal) => async () => {
      const reply = await client.send(request, signal)()
      if (E.isRight(reply) && reply.right.status === 422) state.refusals += 1
      return reply
    },
  }
  const store = kubernetesRouteStore(counting)
  const routes = clusterRoutes(cluster, namespace)
  await fc.assert(
    fc.asyncProperty(statusMoves, async (moves) => {
      const name = `said-${(worlds += 1)}`
      const present = async () => presentOf((await routes.get(name)) ?? {})
      await routes.create(name, answers(200))
      for (const move of moves) {
        const before = await present()
        if (move.by === 'us') {
          expect(await store.writeConditions(before.stored, move.conditions)()).toEqual(
            E.right(undefined),
          )
          const others = before.conditions.filter((each) => !isOurs(each))
          expect(byType((await present()).conditions)).toEqual(
            byType([...others, ...move.conditions]),
          )
        } else await writeAsOther(cluster, pathOf(name), move)
      }
    }),
    { numRuns: 60, examples: [[partlyTheirs]] },
  )
  expect(state.refusals).toBeGreaterThan(0)
})

test('conditions that the schema does not take are Refused', async () => {
  const { store, create, see } = storeWorld()
  await create('a')
  const there = await see('a')
  if (there === undefined) throw new Error('it was not created')
  const reason = 'Two Words'
  const written = await store.writeConditions(there.stored, [
    {
      ...{ type: 'Accepted', status: 'True', reason, message: '', observedGeneration: 1 },
      lastTransitionTime: '2026-01-31T12:00:00Z',
    },
  ])()
  expect(E.isLeft(written) && written.left._tag).toBe('Refused')
  expect(await see('a')).toEqual(there)
})
