import { afterAll, beforeAll, expect, test } from 'vitest'
import { withRegexLimit } from '../support/bootstraps.js'
import { type RecordingBackends, startRecordingBackends } from '../support/deletion/backends.js'
import type { DeletionEnvoy } from '../support/deletion/wired-envoy.js'
import { answers, ask } from '../support/traffic.js'
import { freshAddress } from './support/addresses.js'
import { type Edge, startEdge } from './support/edge.js'
import { conditionOf, isProgrammed, routeManifest, serviceWith } from './support/edge-objects.js'
import type { RouteWatch } from './support/watch-routes.js'
import { theCluster } from './support/the-cluster.js'

/** Of an Envoy that takes only the simplest of regular expressions; ours are checked against its default, 100. */
const lowLimit = 20
/** One that is valid, and too large for such an Envoy. */
const largeRegex = '/bad/([0-9a-f]{4}x){6}'

let backends: RecordingBackends
let edge: Edge
let envoys: Array<DeletionEnvoy>
let watch: RouteWatch

const startPicky = (variant: 'sotw' | 'delta'): Promise<DeletionEnvoy> =>
  edge.startEnvoy({ variant, change: withRegexLimit(lowLimit) })

beforeAll(async () => {
  backends = await startRecordingBackends()
  edge = await startEdge(theCluster(), { name: 'isolation' })
  watch = await edge.watch()
  envoys = [await startPicky('sotw'), await startPicky('delta')]
  await edge.restart()
})

afterAll(async () => {
  await edge.stop()
  await backends.stop()
})

const applyRoute = (name: string): Promise<string> => edge.applyServed(name, backends)

const served = async (name: string, address: string): Promise<void> => {
  for (const envoy of envoys) await answers(await envoy.port(), `/${name}`, `200 ${address}`)
}

test('beside a route that every Envoy refuses all others change, come and go, on a fresh Envoy too', async () => {
  const first = await applyRoute('first')
  await served('first', first)
  await edge.apply(
    routeManifest(edge.namespace, 'bad', {
      matches: [{ path: { regex: largeRegex } }],
      backends: [{ service: { name: 'first', port: 80 } }],
    }),
  )
  const refused = await watch.until(
    ({ object }) =>
      object.metadata.name === 'bad' && conditionOf(object, 'Programmed')?.reason === 'Refused',
  )
  expect(conditionOf(refused.object, 'Accepted')?.status).toBe('True')
  expect(conditionOf(refused.object, 'Programmed')?.message).toMatch(/regex/)

  const second = await applyRoute('second')
  await served('second', second)
  const moved = freshAddress()
  await edge.apply(...serviceWith(edge.namespace, 'second', backends.port, [moved]))
  await served('second', moved)
  await edge.remove('second')
  await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'second')
  const third = await applyRoute('third')
  await watch.until(({ object }) => object.metadata.name === 'third' && isProgrammed(object))

  envoys.push(await startPicky('delta'), await startPicky('sotw'))
  await served('first', first)
  await served('third', third)
  for (const envoy of envoys) expect(await ask(await envoy.port(), '/second')).toBe('404')

  await edge.remove('bad')
  await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'bad')
})
