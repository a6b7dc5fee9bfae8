import { startHost } from 'edgewright/host'
import { memoryRosterStore, memoryRouteSource, virtualClock } from 'edgewright/memory'
import { expect, onTestFinished, test } from 'vitest'
import { listeners } from '../../src/core/listeners.js'
import { type Standing, startWaitMs } from '../../src/core/start-gate.js'
import { settled } from '../support/deletion-stage.js'
import { aLedger, aRoute } from '../support/ledger-nodes.js'

const quietFleet = {
  publish: () => undefined,
  ledger: () => aLedger(undefined, []),
  onLedgerChange: () => () => undefined,
  demandAcks: () => undefined,
  admit: () => undefined,
  forget: () => 'Unknown' as const,
  memory: () => new Map(),
}

/** A host whose fleet ends a while after its signal, and cannot be published to if it is broken. */
const started = async (isBroken: boolean) => {
  const abort = new AbortController()
  const clock = virtualClock()
  let isEnding = false
  let end = (): void => undefined
  const finished = new Promise<void>((resolve) => (end = resolve))
  const host = await startHost(
    {
      source: memoryRouteSource(),
      roster: memoryRosterStore(),
      clock,
      serve: ({ signal }) => {
        signal.addEventListener('abort', () => (isEnding = true))
        return {
          ...quietFleet,
          publish: () => {
            if (isBroken) throw new Error('a bug')
          },
          finished,
        }
      },
    },
    abort.signal,
  )
  let ended: string | undefined
  void host?.finished.then(
    () => (ended = 'resolved'),
    (cause: unknown) => (ended = String(cause)),
  )
  await settled()
  clock.advance(1_000)
  await settled()
  return { abort, isEnding: () => isEnding, end, ended: () => ended }
}

test('a bug that ends the controller ends the fleet too, and is told once that has ended', async () => {
  const host = await started(true)
  expect(host.isEnding()).toBe(true)
  expect(host.ended()).toBeUndefined()
  host.end()
  await settled()
  expect(host.ended()).toBe('Error: a bug')
})

test('a host has finished once its fleet has', async () => {
  const host = await started(false)
  expect(host.isEnding()).toBe(false)
  host.abort.abort()
  await settled()
  expect([host.isEnding(), host.ended()]).toEqual([true, undefined])
  host.end()
  await settled()
  expect(host.ended()).toBe('resolved')
})

test('of a deletion nothing is told to be proven while another control plane may be at work, and it is afterwards', async () => {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const clock = virtualClock()
  const source = memoryRouteSource([aRoute('a', 1)])
  const facts: Array<string> = []
  const { ring, listen } = listeners()
  let standing: Standing = { _tag: 'Alone' }
  const become = (next: Standing): void => {
    standing = next
    ring()
  }
  const host = await startHost(
    {
      source,
      roster: memoryRosterStore(),
      clock,
      standing: { standing: () => standing, onStandingChange: listen },
      onDeletion: ({ fact }) => facts.push(fact._tag),
      serve: () => quietFleet,
    },
    abort.signal,
  )
  const pass = async (ms: number): Promise<void> => {
    await settled()
    clock.advance(ms)
    await settled()
  }
  await pass(0)
  await pass(startWaitMs)
  expect(host?.notYet()).toBeUndefined()
  // What has nothing to wait for is all but proven when the Lease is lost from sight.
  source.set([])
  await pass(0)
  standing = { _tag: 'Unknown', message: 'the Lease is not held' }
  await pass(1_000)
  await pass(10_000)
  expect(facts).toEqual(['Withdrawn'])
  expect(host?.notYet()).toMatchObject({ _tag: 'NotHolding' })
  become({ _tag: 'Alone' })
  for (let i = 0; i < 5; i += 1) await pass(100)
  expect(facts).toEqual(['Withdrawn', 'Proven'])
})
