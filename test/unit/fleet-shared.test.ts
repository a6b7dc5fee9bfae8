import { memoryControlPlane } from 'edgewright/memory'
import { expect, test } from 'vitest'
import { defaultDataPlane, type EdgeRoute } from '../../src/core/edge-route.js'
import * as PM from '../../src/core/persistent-map.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'
import { variants } from '../support/xds.js'

const shards = 32
const plane = {
  listeners: [{ name: 'http', address: '127.0.0.1', port: 10_000 }],
  shards,
  form: { _tag: 'Sharded', shards },
} as const

const route = (generation: number): EdgeRoute => ({
  metadata: { namespace: 'a', name: 'a', uid: 'a', generation, finalizers: [] },
  spec: { hostnames: ['a.test'], respond: { code: 200, body: String(generation) } },
})

test.each(variants)(
  '%s: what Envoys hold alike is one and the same to the ledger, and what is remembered of lost ones',
  (variant) => {
    const { update } = translator(new Map([[defaultDataPlane, plane]]))
    const controlPlane = memoryControlPlane()
    let world = emptyWorld
    const publish = (generation: number): void => {
      const next = { ...emptyWorld, routes: [route(generation)] }
      controlPlane.publish(update(worldChange(world, next)).snapshot)
      world = next
      controlPlane.settle()
    }
    const tables = () => controlPlane.ledger().nodes.map((node) => node.tables)
    publish(1)
    const envoys = ['a', 'b', 'c'].map((id) =>
      controlPlane.connect({ node: { id, cluster: defaultDataPlane }, variant }),
    )
    controlPlane.settle()
    const before = tables()
    expect([PM.size(before[0]), new Set(before).size]).toEqual([shards, 1])
    publish(2)
    const after = tables()
    expect([PM.size(after[0]), new Set(after).size]).toEqual([shards, 1])
    expect(PM.changes(before[0], after[0])).toHaveLength(1)
    envoys.forEach(({ disconnect }) => disconnect())
    expect(new Set(tables())).toEqual(new Set([after[0]]))
  },
)
