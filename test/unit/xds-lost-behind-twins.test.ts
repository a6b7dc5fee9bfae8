import { type EdgeRoute, snapshotOf } from 'edgewright'
import { memoryControlPlane, type EnvoyOptions } from 'edgewright/memory'
import { expect, test } from 'vitest'
import { mayStillServe } from '../../src/core/ledger.js'
import { variants } from '../support/xds.js'

const route = (name: string): EdgeRoute => ({
  metadata: { namespace: 'shop', name, uid: name, generation: 1, finalizers: [] },
  spec: { matches: [{ path: { prefix: `/${name}` } }], respond: { code: 200 } },
})

test.each(variants)(
  '%s: once an id is seen to be shared, its successor settles no lost one',
  (variant) => {
    const options: EnvoyOptions = { node: { id: 'edge-1', cluster: 'edge-envoy' }, variant }
    const plane = memoryControlPlane()
    const lost = plane.connect(options)
    plane.publish(snapshotOf([route('a'), route('b')]))
    plane.settle()
    lost.disconnect() // it goes on serving b
    plane.connect(options)
    plane.settle()
    plane.connect(options) // from here on two connections have the id at once
    plane.settle()
    plane.publish(snapshotOf([route('a')]))
    plane.settle()
    const answer = lost.request({ listener: 10000, host: 'x', path: '/b' })
    expect(answer._tag === 'Responded' && answer.code).toBe(200)
    expect(mayStillServe(plane.ledger(), 'b').map(({ id }) => id)).toEqual(['edge-1'])
  },
)
