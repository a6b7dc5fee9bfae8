import { runController } from 'edgewright/host'
import { virtualClock } from 'edgewright/memory'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { defaultDataPlane } from '../../src/core/edge-route.js'
import * as PM from '../../src/core/persistent-map.js'
import { type Snapshot, viewOf } from '../../src/core/snapshot.js'
import type { Translation } from '../../src/core/translate.js'
import { clusterType, endpointType } from '../../src/core/type-url.js'
import type { SourceState } from '../../src/ports/route-source.js'

const state = (addresses: ReadonlyArray<string>): SourceState => ({
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
        endpoints: addresses.map((address) => ({ addresses: [address], ready: true })),
      },
    ],
  },
})

test('what a source says of Services stands in the place of the context, and endpoints change alone', async () => {
  const clock = virtualClock()
  const published: Array<Snapshot> = []
  const verdicts: Array<Translation> = []
  const stop = new AbortController()
  let show: (state: SourceState) => void = () => undefined
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const ended = runController(
    {
      source: {
        watch: (onState, signal) => () =>
          new Promise((resolve) => {
            show = onState
            signal.addEventListener('abort', () => resolve(E.right(undefined)))
          }),
      },
      sink: { publish: (snapshot) => void published.push(snapshot) },
      clock,
      onVerdicts: (translation) => void verdicts.push(translation),
    },
    stop.signal,
  )
  const tell = async (addresses: ReadonlyArray<string>): Promise<void> => {
    show(state(addresses))
    await settled()
    clock.advance(0)
    await settled()
  }
  await tell(['10.0.0.1'])
  await tell(['10.0.0.1', '10.0.0.2'])
  await tell(['10.0.0.2', '10.0.0.1'])
  stop.abort()
  await ended
  const [first, second, ...more] = published.map((each) => viewOf(each, defaultDataPlane))
  expect(more).toEqual([])
  expect(PM.size(first?.[clusterType])).toBe(1)
  expect(second?.[clusterType]).toBe(first?.[clusterType])
  expect(second?.[endpointType]).not.toBe(first?.[endpointType])
  expect(
    verdicts.flatMap(({ verdicts: of }) => [...of.values()].map(({ unresolved }) => unresolved)),
  ).toEqual([[]])
})
