import { startHost } from 'edgewright/host'
import {
  memoryControlPlane,
  memoryRosterStore,
  memoryRouteSource,
  virtualClock,
} from 'edgewright/memory'
import { expect, onTestFinished, test } from 'vitest'
import { startWaitMs } from '../../src/core/start-gate.js'
import { settled } from '../support/deletion-stage.js'
import { aRoute } from '../support/ledger-nodes.js'
import { anEntry, aRoster } from '../support/roster.js'

/** A control plane that has begun `sinceMs` ago, and knows two Envoys from before. */
const begun = async (sinceMs: number) => {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const clock = virtualClock()
  const host = await startHost(
    {
      source: memoryRouteSource([aRoute('a', 1)]),
      roster: memoryRosterStore(aRoster(anEntry('a'), anEntry('b'))),
      clock,
      serve: (start) => memoryControlPlane({ ...start, clock }),
    },
    abort.signal,
  )
  if (host === undefined) throw new Error('it was stopped')
  const { operator, fleet } = host
  const pass = async (ms: number): Promise<void> => {
    fleet.settle()
    await settled()
    clock.advance(ms)
    await settled()
  }
  await pass(0)
  await pass(sinceMs)
  const awaited = (): ReadonlyArray<string> =>
    operator.nodes().flatMap(({ id, isAwaited }) => (isAwaited ? [id] : []))
  return { operator, fleet, pass, awaited }
}

test('who is on the list, and has not been heard of since the start, is awaited until the wait is over', async () => {
  const { pass, awaited } = await begun(12_000)
  expect(awaited()).toEqual(['a', 'b'])
  await pass(startWaitMs - 12_001)
  expect(awaited()).toEqual(['a', 'b'])
  await pass(1)
  expect(awaited()).toEqual([])
})

test('who has come since the start is awaited no more, although it is lost again', async () => {
  const { fleet, pass, awaited } = await begun(1_000)
  const envoy = fleet.connect({ node: { id: 'a', cluster: 'edge-envoy' }, variant: 'delta' })
  await pass(1_000)
  expect(awaited()).toEqual(['b'])
  envoy.disconnect()
  await pass(1_000)
  expect(awaited()).toEqual(['b'])
})

test('who forgets an Envoy that may be about to come back is told so, and how long ago the start was', async () => {
  const { operator, fleet, pass } = await begun(12_000)
  const envoy = fleet.connect({ node: { id: 'a', cluster: 'edge-envoy' }, variant: 'delta' })
  await pass(0)
  expect(await operator.forget('a')).toBe('Connected')
  envoy.disconnect()
  await pass(0)
  expect(await operator.forget('a')).toBe('Forgotten')
  expect(await operator.forget('b')).toEqual({
    warning:
      'this control plane began 12 s ago, and had not heard of it since: it may still serve, and be about to come back',
  })
  expect(operator.nodes()).toEqual([])
})

test('of an Envoy that has not come in all that time nothing is warned', async () => {
  const { operator } = await begun(startWaitMs)
  expect(await operator.forget('b')).toBe('Forgotten')
})
