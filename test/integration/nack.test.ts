import { setTimeout as sleep } from 'node:timers/promises'
import {
  bytesResource,
  defaultDataPlane,
  type EdgeRoute,
  entries,
  routeType,
  type Snapshot,
  view,
  viewOf,
  typeUrls,
} from 'edgewright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import { type Edge, startEdge } from '../support/edge.js'
import { eventually } from '../support/envoy.js'

const respond = (body: string): EdgeRoute => ({
  metadata: { namespace: 'test', name: 'only', uid: 'only', generation: 1, finalizers: [] },
  spec: { respond: { code: 200, body } },
})

/** The snapshot with a route table that no Envoy takes, in the place of its own. */
const withBadTable = (snapshot: Snapshot): Snapshot => {
  const own = viewOf(snapshot, defaultDataPlane)
  const table = RouteConfiguration.encode({
    name: 'http',
    virtualHosts: [
      { name: 'one', domains: ['*'] },
      { name: 'two', domains: ['*'] },
    ],
  }).finish()
  const all = Object.fromEntries(typeUrls.map((typeUrl) => [typeUrl, [...entries(own[typeUrl])]]))
  const spoilt = view({ ...all, [routeType]: [bytesResource('http', table)] })
  return { dataPlanes: new Map([[defaultDataPlane, spoilt]]) }
}

describe.each(['sotw', 'delta'] as const)('a real Envoy in %s that refuses a table', (variant) => {
  let edge: Edge
  beforeAll(async () => {
    edge = await startEdge(variant)
  })
  afterAll(async () => {
    await edge.stop()
  })

  test('is sent it once, keeps what it had, and gets the next one that is valid', async () => {
    await edge.apply([respond('before')])
    const before = edge.events.length
    const since = () => edge.events.slice(before)

    edge.publish(withBadTable(edge.snapshot([respond('before')])))
    await eventually(
      () => edge.nacks().length,
      (count) => count === 1,
    )
    await sleep(1_000)
    expect(since().filter(({ _tag }) => _tag === 'ResponseSent')).toHaveLength(1)
    const [nack] = edge.nacks()
    expect(nack?._tag === 'ResponseNacked' && nack.error.message).toContain(
      'single wildcard domain',
    )
    expect((await edge.send({ path: '/' })).body).toBe('before')

    await edge.apply([respond('after')])
    expect((await edge.send({ path: '/' })).body).toBe('after')
    expect(edge.nacks()).toHaveLength(1)
  })
})
