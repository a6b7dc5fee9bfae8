import { startHost } from 'edgewright/host'
import { memoryRosterStore, memoryRouteSource, virtualClock } from 'edgewright/memory'
import { expect, test } from 'vitest'
import { settled } from '../support/deletion-stage.js'
import { aLedger } from '../support/ledger-nodes.js'

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
          publish: () => {
            if (isBroken) throw new Error('a bug')
          },
          ledger: () => aLedger(undefined, []),
          onLedgerChange: () => () => undefined,
          demandAcks: () => undefined,
          admit: () => undefined,
          forget: () => 'Unknown',
          memory: () => new Map(),
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
