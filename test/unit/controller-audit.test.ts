import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../src/adapters/memory/index.js'
import { steppingClock } from '../../src/adapters/memory/stepping-clock.js'
import { type Endpoint, defaultContext } from '../../src/core/context.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import { snapshotOf } from '../../src/core/translate.js'
import { type ControllerPorts, runController } from '../../src/host/controller.js'
import { auditEveryMs } from '../../src/host/keep-audit.js'
import type { SourceState } from '../../src/ports/route-source.js'
import { contentOf } from '../support/oracle/content.js'

const ready = (address: string): Endpoint => ({ addresses: [address], ready: true })

/** Its slice is an array that its source can change, which it must not. */
const stateOf = (endpoints: ReadonlyArray<Endpoint>): SourceState => ({
  routes: [
    {
      metadata: { namespace: 'shop', name: 'r', uid: 'r', generation: 1, finalizers: [] },
      spec: { backends: [{ service: { name: 'web', port: 80 } }] },
    },
  ],
  problems: [],
  backends: {
    services: [{ namespace: 'shop', name: 'web', ports: [{ name: '', port: 80 }] }],
    endpointSlices: [
      {
        namespace: 'shop',
        name: 'web-1',
        service: 'web',
        ports: [{ name: '', port: 8080 }],
        endpoints,
      },
    ],
  },
})

const stage = (state: SourceState) => {
  const clock = steppingClock(0)
  const logger = memoryLogger()
  const published: Array<Snapshot> = []
  const stop = new AbortController()
  const source: ControllerPorts['source'] = {
    watch: (onState, signal) => () =>
      new Promise((resolve) => {
        onState(state)
        signal.addEventListener('abort', () => resolve(E.right(undefined)))
      }),
  }
  const sink = { publish: (snapshot: Snapshot): void => void published.push(snapshot) }
  const ended = runController({ source, sink, clock, logger }, stop.signal)
  const pass = async (ms: number): Promise<void> => {
    const end = clock.nowMs() + ms
    for (;;) {
      for (let i = 0; i < 20; i++) await Promise.resolve()
      if (!clock.runNext(end)) return clock.moveTo(end)
    }
  }
  const errors = (): ReadonlyArray<string> =>
    logger.entries().flatMap(({ level, message }) => (level === 'error' ? [message] : []))
  return { published, errors, pass, stop, ended }
}

test('what was changed in place, against all promises, is found and served within two audits', async () => {
  const endpoints = [ready('10.0.0.1')]
  const state = stateOf(endpoints)
  const { published, errors, pass, stop, ended } = stage(state)
  await pass(1_000)
  endpoints.push(ready('10.0.0.2'))
  await pass(auditEveryMs * 2)
  expect(published).toHaveLength(2)
  const whole = snapshotOf(state.routes, { ...defaultContext, ...state.backends })
  expect(published.map(contentOf)[1]).toBe(contentOf(whole))
  expect(errors()).toHaveLength(1)
  await pass(auditEveryMs * 3)
  expect(published).toHaveLength(2)
  stop.abort()
  await ended
})

test('a controller whose work is right publishes nothing for an audit, and ends in the middle of one', async () => {
  const { published, errors, pass, stop, ended } = stage(stateOf([ready('10.0.0.1')]))
  await pass(auditEveryMs + 15)
  stop.abort()
  await ended
  expect([published.length, errors()]).toEqual([1, []])
})
