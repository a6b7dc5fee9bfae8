import { type Condition, conditionsOf } from 'edgewright'
import { startHost } from 'edgewright/host'
import {
  memoryControlPlane,
  memoryRosterStore,
  memoryRouteSource,
  virtualClock,
} from 'edgewright/memory'
import { onTestFinished, expect, test } from 'vitest'
import { dateConditions, nothingDated } from '../../src/host/dated-conditions.js'
import { settled } from '../support/deletion-stage.js'
import { aRoute, worldOf } from '../support/ledger-nodes.js'

/** A host of a source without finalizers, and an Envoy that connects when it is told to. */
const started = async () => {
  const abort = new AbortController()
  const clock = virtualClock()
  const controlPlane = memoryControlPlane({ clock })
  const source = memoryRouteSource([aRoute('a', 1)])
  const fleet = {
    publish: controlPlane.publish,
    ledger: controlPlane.ledger,
    onLedgerChange: controlPlane.onLedgerChange,
    demandAcks: () => undefined,
    admit: () => undefined,
    forget: () => 'Unknown' as const,
    memory: () => new Map(),
  }
  const host = await startHost(
    { source, roster: memoryRosterStore(), clock, serve: () => fleet },
    abort.signal,
  )
  onTestFinished(() => abort.abort())
  const pass = async (ms: number): Promise<void> => {
    await settled()
    clock.advance(ms)
    await settled()
  }
  const connect = (): void => {
    controlPlane.connect({ node: { id: 'e', cluster: 'edge-envoy' }, variant: 'delta' })
    controlPlane.settle()
  }
  const said = (): ReadonlyArray<string> => {
    const [of] = host?.operator.explain({ namespace: 'test', name: 'a' }) ?? []
    return (of?.conditions ?? []).map(inShort)
  }
  return { source, controlPlane, pass, connect, said }
}

const inShort = ({ type, status, observedGeneration, lastTransitionTime }: Condition): string =>
  `${type} ${status} ${observedGeneration} ${Date.parse(lastTransitionTime)}`

test('without a store a condition has the time of its last flip, whenever it is asked for', async () => {
  const { source, controlPlane, pass, connect, said } = await started()
  await pass(0)
  await pass(60_000)
  expect(said()).toEqual(['Accepted True 1 0', 'ResolvedRefs True 1 0', 'Programmed False 1 0'])
  connect()
  await pass(1_000)
  const [, , flipped = ''] = said()
  expect(flipped).toMatch(/^Programmed True 1 60\d{3}$/)
  await pass(60_000)
  source.apply(aRoute('a', 2))
  await pass(0)
  controlPlane.settle()
  await pass(1_000)
  expect(said()).toEqual([
    'Accepted True 2 0',
    'ResolvedRefs True 2 0',
    flipped.replace('True 1', 'True 2'),
  ])
})

test('what is there no more is not remembered, and what has not changed is not dated anew', () => {
  const { verdicts } = worldOf({ a: 1, b: 1 })
  const both = dateConditions(nothingDated, verdicts, 1_000)
  const again = dateConditions(both, verdicts, 2_000)
  expect(again.conditions.get('a')).toBe(both.conditions.get('a'))
  const [a] = [...verdicts.values()]
  const one = dateConditions(again, worldOf({ a: 1 }).verdicts, 3_000)
  expect([...one.conditions.keys()]).toEqual(['a'])
  const at = new Date(1_000).toISOString()
  expect(one.conditions.get('a')).toEqual(a && conditionsOf(a, [], at))
})
