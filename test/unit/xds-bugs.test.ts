import { expect, test } from 'vitest'
import { openDelta, openSotw, refusal, types, versionOf } from '../support/xds.js'

test('14. D: a resource that was refused alone is sent once more if the client asks for it anew', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a' })
  stream.ask('lds', { subscribe: 'a' })
  if (stream.nack('lds').length > 0) stream.ack('lds')
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

test('53. S: a cluster that leaves before its endpoints were asked for gets an assignment all the same', () => {
  const stream = openSotw()
  stream.publish({ cds: 'a>a', eds: 'a' })
  stream.ask('cds')
  stream.publish({})
  stream.ask('eds', 'a')
  expect(stream.latest('eds')?.resources.map(({ name }) => name)).toEqual(['a'])
})

test('14. S: a client that comes back and refuses its first listeners without a name is not sent them for ever', () => {
  const stream = openSotw()
  stream.publish({ lds: 'a b' })
  stream.ask('lds', '', { versionInfo: 'v' })
  for (let round = 0; round < 10; round++) stream.nack('lds')
  expect(stream.responses().length).toBeLessThan(5)
})

test('14. S: of a client that comes back only what it names is held to be refused, not a part of the name', () => {
  const stream = openSotw()
  stream.publish({ cds: 'web web-2' })
  stream.ask('cds', '', { versionInfo: 'v' })
  stream.ask('cds', '', { errorDetail: { code: 13, message: 'cluster(s) web-2: refused' } })
  const convicted = stream
    .effects()
    .flatMap((each) => (each._tag === 'Convicted' ? [each.name] : []))
  expect(convicted).toEqual(['web-2'])
})

test('22. D: what is to go follows the answer to what has come, and no other event', () => {
  const stream = openDelta()
  stream.publish({ cds: 'a' })
  expect(stream.ask('cds', { subscribe: 'a x' })).toEqual(['cds a'])
  expect(stream.publish({ cds: 'a' })).toEqual([])
  expect(stream.ack('cds')).toEqual(['cds -x'])
})

test('18b. D: what is tried is tried alone: something new beside it is not laid at its door', () => {
  const stream = openDelta()
  stream.publish({ eds: 'b=1 c=1' })
  stream.ask('eds', { subscribe: '*' })
  stream.publish({ eds: 'a=bad b=1' })
  for (let round = 0; round < 10; round++) {
    const isBad = stream.latest('eds')?.resources.some(({ name }) => name !== 'b') ?? false
    if (isBad) stream.nack('eds')
    else stream.ack('eds')
    const convicted = stream
      .effects()
      .flatMap((each) => (each._tag === 'Convicted' ? [each.name] : []))
    expect(convicted).not.toContain('b')
  }
})

test('31. S: what was not asked for before everything was is not held for accepted', () => {
  const stream = openSotw()
  stream.publish({ cds: 'c>c', eds: 'c', rds: '' })
  stream.ask('cds', 'a')
  expect(stream.ack('cds', '*')).toEqual(['cds c'])
  expect(stream.nack('cds')).toEqual(['cds'])
  expect(stream.effects().map(({ _tag }) => _tag)).toContain('Convicted')
})

test('43. D: a table that a client brings in its present version is not sent again', () => {
  const first = openDelta()
  first.publish({ rds: 'a=1' })
  first.ask('rds', { subscribe: 'a' })
  first.ack('rds')
  const second = openDelta({ memory: first.memory() })
  second.publish({ rds: 'a=1' })
  expect(second.ask('rds', { subscribe: 'a', initial: { a: versionOf('a=1') } })).toEqual([])
})

test('18b. S: a client that comes back and has accepted that there is nothing is searched like any other', () => {
  const stream = openSotw()
  stream.publish({})
  stream.ask('cds', '', { versionInfo: 'v' })
  stream.ack('cds')
  stream.publish({ cds: 'a' })
  stream.nack('cds')
  expect(stream.effects().map(({ _tag }) => _tag)).toContain('Convicted')
})

test('18b. D: responses that crossed a refusal do not keep the search going for ever', () => {
  const stream = openDelta()
  const answered = new Set<string>()
  const ackOldest = (): void => {
    const oldest = stream.responses().find(({ nonce }) => !answered.has(nonce))
    if (oldest === undefined) return
    answered.add(oldest.nonce)
    stream.ask('cds', {}, { responseNonce: oldest.nonce })
  }
  stream.publish({ cds: 'b=1 c=1' })
  stream.ask('cds', { subscribe: 'b *' })
  ackOldest()
  stream.publish({ cds: 'b=2 c=2' })
  stream.ask('cds', { subscribe: 'b' })
  stream.ask('cds', { subscribe: 'b' })
  answered.add('2')
  stream.ask('cds', {}, { responseNonce: '2', errorDetail: refusal })
  for (let round = 0; round < 20; round++) ackOldest()
  expect(stream.responses().length).toBeLessThan(12)
})

test('7. S: an accepted list of clusters leaves nothing unsure, what it leaves out least of all', () => {
  const first = openSotw()
  first.publish({})
  first.ask('cds', 'a')
  const second = openSotw({ memory: first.memory() })
  second.publish({})
  expect(second.ask('cds', 'a')).toEqual(['cds'])
  expect(second.ack('cds')).toEqual([])
  expect(second.memory()?.doubts[types.cds]).toBeUndefined()
})

test('37. D: of a name that does not exist a client that comes back is told once', () => {
  const first = openDelta()
  first.publish({})
  first.ask('rds', { subscribe: 'a' })
  const second = openDelta({ memory: first.memory() })
  second.publish({})
  expect(second.ask('rds', { subscribe: 'a' })).toEqual(['rds -a'])
  expect(second.ack('rds')).toEqual([])
})

test('43. D: what a client brings in another version is not forgotten if it goes before its turn has come', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a' })
  expect(stream.ask('lds', { initial: { a: 'old', c: 'old' } })).toEqual(['lds -c'])
  expect(stream.publish({})).toEqual([])
  expect(stream.ack('lds')).toEqual(['lds -a'])
})

test('31. D: what was not asked for when everything was asked for under way is not held for accepted', () => {
  const stream = openDelta()
  stream.publish({ lds: 'b' })
  expect(stream.ask('lds', { subscribe: 'a' })).toEqual(['lds -a'])
  expect(stream.ask('lds', { subscribe: '*' })).toEqual([])
  expect(stream.ack('lds')).toEqual(['lds b'])
  stream.nack('lds')
  expect(stream.effects().map(({ _tag }) => _tag)).toContain('Convicted')
})

test('14. S: a client that comes back and refuses its first listeners is not sent the same once more', () => {
  const stream = openSotw()
  stream.publish({ lds: 'a b' })
  stream.ask('lds', '', { versionInfo: 'v' })
  expect(stream.nack('lds')).toEqual([])
})

test('18b. D: what is still to be sent does not count as accepted with the removals that go first', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a b' })
  expect(stream.ask('lds', { subscribe: 'a b x', initial: { x: 'v' } })).toEqual(['lds -x'])
  expect(stream.ack('lds')).toEqual(['lds a b'])
  expect(stream.nack('lds')).toEqual(['lds a'])
})

test('37. S: what is unsure is not sent once more while a list that says all is on its way', () => {
  const first = openSotw()
  first.publish({})
  first.ask('cds', 'a')
  const second = openSotw({ memory: first.memory() })
  second.publish({})
  expect(second.ask('cds', 'a')).toEqual(['cds'])
  expect(second.ask('lds')).toEqual(['lds'])
})

test('18b. D: a table that is tried is tried alone, though others are to be sent once more', () => {
  const first = openDelta()
  first.publish({ rds: 'a=1 c=1' })
  first.ask('rds', { subscribe: 'a c' })
  first.ack('rds')
  first.ask('rds', { subscribe: 'a c' })
  const second = openDelta({ memory: first.memory() })
  second.publish({ rds: 'a=1 c=1' })
  const held = { a: versionOf('a=1'), c: versionOf('c=1') }
  expect(second.ask('rds', { subscribe: 'a c', initial: held })).toEqual(['rds a=1 c=1'])
  for (let round = 0; round < 4; round++) {
    const isAlone = second.latest('rds')?.resources.length === 1
    second.nack('rds')
    if (!isAlone) expect(second.effects().map(({ _tag }) => _tag)).not.toContain('Convicted')
  }
})

test('27. S: names that are given beside everything while a response is out are answered once', () => {
  const stream = openSotw()
  stream.publish({ cds: 'c' })
  expect(stream.ask('cds', '*')).toEqual(['cds c'])
  expect(stream.ask('cds', '* c a')).toEqual(['cds c'])
  expect(stream.ack('cds')).toEqual([])
})

test('27. S: and are not answered again when the older response is answered before the newer', () => {
  const stream = openSotw()
  stream.publish({ cds: 'a' })
  stream.ask('cds', '*')
  expect(stream.ask('cds', '* a x')).toEqual(['cds a'])
  expect(stream.ask('cds', '* a x', { responseNonce: '1' })).toEqual([])
  expect(stream.ack('cds')).toEqual([])
})

test('18b. D: a trial of what was never accepted is sent, though an older answer has made it the target', () => {
  const stream = openDelta()
  stream.publish({ lds: 'b c' })
  expect(stream.ask('lds', { subscribe: 'a' })).toEqual(['lds -a'])
  stream.ask('lds', { subscribe: '*' })
  expect(stream.ack('lds')).toEqual(['lds b c'])
  expect(stream.nack('lds')).toEqual(['lds b'])
})

test('18b. D: a listener that was refused is not tried again on a client that has given it up', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a' })
  stream.ask('lds', { subscribe: '*' })
  stream.nack('lds')
  stream.ask('lds', { unsubscribe: '*' })
  expect(stream.pass(61_000)).toEqual([])
})

test('14. D: a client that refuses an assignment, and the empty one in its place, is left alone', () => {
  const stream = openDelta()
  stream.publish({ eds: 'b' })
  stream.ask('eds', { subscribe: 'b' })
  for (let round = 0; round < 10; round++) stream.nack('eds')
  expect(stream.responses().length).toBeLessThan(4)
})

test('18b. S: a whole list that left before a name was asked for settles nothing of that name', () => {
  const stream = openSotw()
  stream.publish({ lds: 'b' })
  expect(stream.ask('lds', 'a')).toEqual(['lds'])
  expect(stream.ask('lds', 'a b', { responseNonce: '' })).toEqual([])
  expect(stream.ack('lds')).toEqual(['lds b'])
  stream.nack('lds')
  expect(stream.effects().map(({ _tag }) => _tag)).toContain('Convicted')
})

test('14. D: of one resource every version that was refused is remembered', () => {
  const stream = openDelta()
  stream.publish({ lds: 'a=1' })
  stream.ask('lds')
  stream.nack('lds')
  expect(stream.publish({ lds: 'a=2' })).toEqual(['lds a=2'])
  stream.nack('lds')
  expect(stream.publish({ lds: 'a=1' })).toEqual([])
  expect(stream.publish({ lds: 'a=2' })).toEqual([])
})

test('22. D: where what is to go goes first, what comes follows the answer, and no other event', () => {
  const stream = openDelta()
  stream.publish({ cds: 'c=1' })
  stream.ask('cds')
  stream.ack('cds')
  stream.publish({ cds: 'c=2' })
  stream.ask('cds', { subscribe: 'a' })
  stream.pass(10_000)
  const before = stream.responses().length
  stream.ask('cds', { subscribe: '*' })
  stream.publish({ cds: 'c=2' })
  stream.publish({ cds: 'c=2' })
  expect(stream.responses().length - before).toBeLessThanOrEqual(1)
})

test('a stream does not begin with a trial, which would take all the rest away', () => {
  const first = openSotw()
  first.publish({ lds: 'a b' })
  first.ask('lds')
  first.ack('lds')
  first.publish({ lds: 'a b c=bad' })
  first.nack('lds')
  const second = openSotw({ memory: first.memory() })
  second.publish({ lds: 'a b c=bad' })
  second.pass(5_000)
  expect(second.ask('lds', '', { versionInfo: 'v' })).toEqual(['lds a b'])
})

test('a delta client that comes back with all it should hold is asked again about what it refused', () => {
  const first = openDelta()
  first.publish({ lds: 'a' })
  first.ask('lds')
  first.ack('lds')
  first.publish({ lds: 'a c=busy' })
  first.nack('lds')
  const second = openDelta({ memory: first.memory() })
  second.publish({ lds: 'a c=busy' })
  expect(second.ask('lds', { initial: { a: versionOf('a') } })).toEqual([])
  expect(second.pass(61_000)).toEqual(['lds c=busy'])
})
