import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { finalizer } from '../../src/core/stored-object.js'
import { clusterType } from '../../src/core/type-url.js'
import { type EnvoyFleet, startHost } from '../../src/host/start-host.js'
import {
  edgeRouteSpec,
  type Law,
  type MemoryControlPlane,
  type MemoryEnvoy,
  memoryRouteSource,
  type SimulatedHost,
  simulatedHost,
  type SimulatedHostOptions,
} from '../../src/testing/index.js'

const key = { namespace: 'test', name: 'a' }
const route = { metadata: key, spec: { backends: [{ address: { host: '10.0.0.1', port: 80 } }] } }

const running: Array<SimulatedHost> = []
afterEach(async () => {
  for (const edge of running.splice(0)) await edge.stop()
})

const started = async (options: SimulatedHostOptions = {}): Promise<SimulatedHost> => {
  const edge = await simulatedHost(options)
  running.push(edge)
  return edge
}

const ask = (envoy: MemoryEnvoy): string =>
  envoy.request({ listener: 'http', host: 'h', path: '/' })._tag

const lawsBroken = ({ violations }: SimulatedHost): ReadonlyArray<Law> => [
  ...new Set(violations().map(({ law }) => law)),
]

const afterStart = 60_000

describe('a simulated host', () => {
  test('serves an object, and lets go of it when its Envoys have', async () => {
    const edge = await started()
    const [one, two] = [await edge.connect(), await edge.connect({ variant: 'sotw' })]
    const { metadata } = await edge.apply(route)
    expect([ask(one), ask(two)]).toEqual(['Forwarded', 'Forwarded'])
    expect(edge.servedAt(two)).toEqual([metadata.uid])
    two.disconnect()
    await edge.pass(afterStart)
    await edge.delete(key)
    await edge.pass(86_400_000)
    expect(edge.api.get(key)?.metadata.finalizers).toEqual([finalizer])
    expect(edge.operator.explain(key)[0]?.owed.map(({ id }) => id)).toEqual(['envoy-2'])
    two.reconnect()
    await edge.pass(1_000)
    expect(edge.api.get(key)).toBeUndefined()
    expect(edge.violations()).toEqual([])
  })

  test('is the same each time', async () => {
    const play = async (): Promise<unknown> => {
      const edge = await started()
      const envoy = await edge.connect()
      await edge.apply(route)
      await edge.pass(afterStart)
      await edge.delete(key)
      await edge.pass(1_000)
      return [edge.logger.entries(), envoy.state().log, edge.api.list(), edge.clock.nowMs()]
    }
    expect(await play()).toEqual(await play())
  })

  test('breaks no law in whatever order messages arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(edgeRouteSpec, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(7), { minLength: 1, maxLength: 40 }),
        async (specs, choices) => {
          let messages = 0
          const choose = (): number => choices[(messages += 1) % choices.length] ?? 0
          const edge = await started({ choose })
          for (const variant of ['sotw', 'delta'] as const) await edge.connect({ variant })
          for (const spec of specs) await edge.apply({ metadata: key, spec })
          await edge.delete(key)
          await edge.pass(afterStart + 1_000)
          expect(edge.api.get(key)).toBeUndefined()
          expect(edge.violations()).toEqual([])
        },
      ),
      { numRuns: 15 },
    )
  })

  test("serves from a source of one's own", async () => {
    const metadata = { ...key, uid: 'u', generation: 1, finalizers: [] }
    const source = memoryRouteSource([{ metadata, spec: route.spec }])
    const facts: Array<string> = []
    const onDeletion = ({ fact }: { readonly fact: { readonly _tag: string } }): void => {
      facts.push(fact._tag)
    }
    const edge = await started({ ports: { source, onDeletion } })
    const envoy = await edge.connect()
    expect(ask(envoy)).toBe('Forwarded')
    source.delete('u')
    await edge.settle()
    expect(ask(envoy)).toBe('NotFound')
    await edge.pass(afterStart + 1_000)
    expect(facts).toEqual(['Withdrawn', 'Proven'])
  })

  test('says what the API server refuses', async () => {
    const edge = await started({ api: { validate: () => 'not today' } })
    await expect(edge.apply(route)).rejects.toThrow('not today')
    await expect(edge.delete(key)).rejects.toThrow('test/a not found')
  })

  test('throws what the host has failed with', async () => {
    const edge = await simulatedHost({
      start: async (ports, signal) => {
        const host = await startHost(ports, signal)
        return host && { ...host, finished: Promise.reject(new Error('a bug')) }
      },
    }).catch((error: unknown) => error)
    expect(String(edge)).toBe('Error: a bug')
  })
})

/** A host whose fleet is not what it should be. */
const withFleet = (
  change: (fleet: MemoryControlPlane) => Partial<EnvoyFleet>,
): SimulatedHostOptions => ({
  start: (ports, signal) =>
    startHost(
      {
        ...ports,
        serve: async (start) => {
          const fleet = await ports.serve(start)
          return { ...fleet, ...change(fleet) }
        },
      },
      signal,
    ),
})

/** It has an Envoy that is away, and an object that is being deleted. */
const withLostEnvoy = async (options: SimulatedHostOptions = {}): Promise<SimulatedHost> => {
  const edge = await started(options)
  const envoy = await edge.connect()
  await edge.apply(route)
  expect(ask(envoy)).toBe('Forwarded')
  envoy.disconnect()
  await edge.pass(afterStart)
  await edge.delete(key)
  await edge.pass(1_000)
  return edge
}

describe('the laws, seen broken', () => {
  test('a ledger that knows of no Envoy releases early', async () => {
    const edge = await withLostEnvoy(
      withFleet(({ ledger }) => ({ ledger: () => ({ ...ledger(), nodes: [] }) })),
    )
    expect(edge.api.get(key)).toBeUndefined()
    expect(lawsBroken(edge)).toContain('GoneBeforeReleased')
  })

  test('what an operator takes on himself breaks none', async () => {
    const forgetting = await withLostEnvoy()
    expect(await forgetting.operator.forget('envoy-1')).toBe('Forgotten')
    await forgetting.pass(1_000)
    expect(forgetting.api.get(key)).toBeUndefined()
    expect(forgetting.violations()).toEqual([])

    const breaking = await withLostEnvoy()
    await breaking.operator.breakGlass(key)
    await breaking.pass(1_000)
    expect(breaking.api.get(key)).toBeUndefined()
    expect(breaking.violations()).toEqual([])
  })

  test('a finalizer that somebody takes off by hand is seen', async () => {
    const edge = await withLostEnvoy()
    const patch = [{ op: 'remove', path: '/metadata/finalizers' }] as const
    edge.api.write({ _tag: 'Patch', key, patch })
    await edge.settle()
    expect(lawsBroken(edge)).toEqual(['GoneBeforeReleased'])
  })

  test('an Envoy that comes back with what was released is seen', async () => {
    const edge = await started()
    const envoy = await edge.connect()
    await edge.apply(route)
    envoy.disconnect()
    await edge.pass(afterStart)
    await edge.operator.forget('envoy-1')
    await edge.delete(key)
    await edge.pass(1_000)
    expect(edge.api.get(key)).toBeUndefined()
    expect(edge.violations()).toEqual([])
    envoy.reconnect()
    await edge.settle()
    expect(lawsBroken(edge)).toEqual(['NotServed'])
    expect(ask(envoy)).toBe('NotFound')
  })

  test('an object that is served without its finalizer is seen', async () => {
    const uid = '00000000-0000-4000-8000-000000000001' // of the first object of any server
    const metadata = { ...key, uid, generation: 1, finalizers: [finalizer] }
    const source = memoryRouteSource([{ metadata, spec: route.spec }])
    const edge = await started({ ports: { source } })
    edge.api.write({ _tag: 'Create', object: route })
    expect(edge.api.get(key)?.metadata.uid).toBe(uid)
    await edge.connect()
    expect(lawsBroken(edge)).toEqual(['FinalizerFirst'])
  })

  test('a snapshot that is not closed is seen', async () => {
    const edge = await started(
      withFleet(({ publish }) => ({
        publish: ({ dataPlanes }) => {
          const robbed = [...dataPlanes].map(
            ([name, view]) => [name, { ...view, [clusterType]: undefined }] as const,
          )
          publish({ dataPlanes: new Map(robbed) })
        },
      })),
    )
    await edge.connect()
    await edge.apply(route)
    expect(lawsBroken(edge)).toContain('Closed')
  })
})
