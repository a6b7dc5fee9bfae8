import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { defaultContext, type EndpointSlice, type Service } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import {
  emptyWorld,
  type Translator,
  translator,
  type World,
  worldChange,
} from '../../src/core/translator.js'

setFlagsFromString('--expose-gc')

const heapUsed = (): number => {
  runInNewContext('gc()')
  return process.memoryUsage().heapUsed
}

const batch = 250

/** Objects with everything of their own: uid, host, path, Service and slice. */
const worldOf = (turn: number): World => ({
  routes: Array.from({ length: batch }, (_, i) => routeOf(`r-${turn}-${i}`)),
  services: Array.from({ length: batch }, (_, i) => serviceOf(`r-${turn}-${i}`)),
  endpointSlices: Array.from({ length: batch }, (_, i) => sliceOf(`r-${turn}-${i}`)),
})

const routeOf = (name: string): EdgeRoute => ({
  metadata: { namespace: 'shop', name, uid: name, generation: 1, finalizers: [] },
  spec: {
    hostnames: [`${name}.example.com`],
    matches: [{ path: { prefix: `/${name}` } }, { path: { prefix: '/shared' } }],
    backends: [{ service: { name, port: 80 } }, { service: { name: 'shared', port: 80 } }],
  },
})

const serviceOf = (name: string): Service => ({
  namespace: 'shop',
  name,
  ports: [{ name: '', port: 80 }],
})

const sliceOf = (name: string): EndpointSlice => ({
  namespace: 'shop',
  name: `${name}-x`,
  service: name,
  ports: [{ name: '', port: 8080 }],
  endpoints: [{ addresses: ['10.0.0.1'], ready: true }],
})

/** A weak map keeps the room that it needed for what died between two collections, and V8 may wait long with one. */
const turnsBetweenCollections = 10

/** Objects come and all go again, many times; gives the heap's growth after the first tenth. */
const growth = (incremental: Translator, batches: number): number => {
  let base = 0
  for (let turn = 0; turn < batches; turn++) {
    const world = worldOf(turn)
    incremental.update(worldChange(emptyWorld, world))
    incremental.update(worldChange(world, emptyWorld))
    if (turn % turnsBetweenCollections === 0) heapUsed()
    if (turn === Math.floor(batches / 10)) base = heapUsed()
  }
  return heapUsed() - base
}

/** A tenth of what one map entry for each object would cost. */
const allowedBytes = 1_000_000

test('100,000 creations and deletions leave the heap where it was', () => {
  const incremental = translator(defaultContext.dataPlanes)
  expect(growth(incremental, 400)).toBeLessThan(allowedBytes)
}, 120_000)

test('a translator that keeps what has left is found by its heap', () => {
  const kept: Array<unknown> = []
  const incremental = translator(defaultContext.dataPlanes)
  const leaking: Translator = {
    update: (change) => {
      kept.push(change.routes.removed.map(({ metadata }) => metadata))
      return incremental.update(change)
    },
  }
  expect(growth(leaking, 60)).toBeGreaterThan(allowedBytes)
  expect(kept).toHaveLength(120)
}, 120_000)
