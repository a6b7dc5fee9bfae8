import { expect, test } from 'vitest'
import { openDelta, openSotw } from '../support/xds.js'

test('14. D: a resource that was refused alone is sent once more if the client asks for it anew', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a' })
  stream.ask('lds', { subscribe: 'a' })
  stream.nack('lds')
  expect(stream.ask('lds', { subscribe: 'a' })).toEqual(['lds a'])
})

test('14. S: a resource that was refused alone is sent once more if the client asks for it anew', () => {
  const stream = openSotw()
  stream.publish({ eds: 'a=1 b=1' })
  stream.ask('eds', 'a')
  expect(stream.nack('eds', 'b')).toEqual(['eds b=1'])
  expect(stream.ack('eds', 'a b')).toEqual(['eds a=1'])
})

test('14. D: a client that refuses every removal is not told of it for ever', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a b' })
  stream.ask('lds')
  stream.ack('lds')
  stream.publish({ lds: 'a' })
  for (let round = 0; round < 10; round++) stream.nack('lds')
  expect(stream.responses().length).toBeLessThan(5)
})

test('16. D: a removal that was refused twice, then withdrawn, is put back into the client', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a b' })
  stream.ask('lds')
  stream.ack('lds')
  expect(stream.publish({ lds: 'a' })).toEqual(['lds -b'])
  expect(stream.nack('lds')).toEqual(['lds -b'])
  expect(stream.publish({ lds: 'a b' })).toEqual([])
  expect(stream.nack('lds')).toEqual(['lds b'])
})

test('53. S: a cluster that leaves before its endpoints were asked for gets an assignment all the same', () => {
  const stream = openSotw()
  stream.publish({ cds: 'a>a', eds: 'a' })
  stream.ask('cds')
  stream.publish({})
  stream.ask('eds', 'a')
  expect(stream.latest('eds')?.resources.map(({ name }) => name)).toEqual(['a'])
})
