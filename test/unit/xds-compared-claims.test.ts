import { expect, test } from 'vitest'
import { clusterType } from '../../src/core/type-url.js'
import { openDelta } from '../support/xds.js'

/** What a client leaves behind that was sent a cluster, and whose stream has ended before its answer. */
const leftWith = (cluster: string) => {
  const stream = openDelta()
  stream.publish({ cds: cluster })
  stream.ask('cds')
  return stream.memory()
}

test('A. D: what a client may hold without saying so goes at once, though of what it says it holds nothing may go yet', () => {
  const memory = leftWith('d')
  expect(memory?.doubts[clusterType]).toBeDefined()
  const stream = openDelta({ memory })
  stream.publish({})
  // Of `stranger` nobody knows which table names it: it stays for a while.
  expect(stream.ask('cds', { initial: { stranger: '1' } })).toEqual(['cds -d'])
  expect(stream.ack('cds')).toEqual([])
  expect(stream.memory()?.doubts[clusterType]).toBeUndefined()
})

test('A. D: and is sent once more together with what is new to it, not twice', () => {
  const stream = openDelta({ memory: leftWith('d=1') })
  stream.publish({ cds: 'd=2' })
  expect(stream.ask('cds', { initial: { stranger: '1' } })).toEqual(['cds d=2'])
  expect(stream.ack('cds')).toEqual([])
})
