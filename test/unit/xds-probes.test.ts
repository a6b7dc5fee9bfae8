import { defaultDataPlane, snapshotOf } from 'edgewright'
import { describe, expect, test } from 'vitest'
import { aRoute } from '../support/ledger-nodes.js'
import { openSotw, type SotwStream } from '../support/xds.js'

/** A client of which nobody knows what it holds has refused a table with these routes. */
const refused = (): SotwStream => {
  const stream = openSotw({ node: { id: 'envoy-1', cluster: defaultDataPlane } })
  stream.publish(snapshotOf(['a', 'b', 'c', 'd'].map((name) => aRoute(name, 1))))
  stream.ask('rds', 'http', { versionInfo: 'v' })
  stream.nack('rds')
  return stream
}

const isProbe = (stream: SotwStream): boolean =>
  stream.latest('rds')?.resources.some(({ owners }) => owners.includes('')) === true

describe('of a client that nobody knows', () => {
  test('what a refusal may be for is tried by a table that is refused in any case', () => {
    expect(isProbe(refused())).toBe(true)
  })

  test('no second such table is sent to one that accepts it, and it gets the whole at last', () => {
    const stream = refused()
    stream.ack('rds')
    for (let round = 0; round < 10; round++) {
      expect(isProbe(stream)).toBe(false)
      stream.ack('rds')
    }
    expect(stream.latest('rds')?.resources[0]?.owners).toHaveLength(4)
  })
})
