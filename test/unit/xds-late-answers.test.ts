import { describe, expect, test } from 'vitest'
import * as PM from '../../src/core/persistent-map.js'
import { clusterType } from '../../src/core/type-url.js'
import { accept } from '../../src/core/xds/answers.js'
import { isCertain } from '../../src/core/xds/holding.js'
import { noSearch, suspectsOf, type Unit } from '../../src/core/xds/search.js'
import type { InFlight, Watch } from '../../src/core/xds/watch.js'
import { anInFlight, aWatch } from '../support/in-flight.js'
import { aResource, notes, openDelta } from '../support/xds.js'

const [kept, taken] = [aResource('kept=2'), aResource('taken=1')]

const unitOf = ({ name, version }: typeof kept): Unit => ({ kind: 'Resource', name, version })

/** Both were sent, and were waited for too long; one was taken out, and what is tried now is on its way. */
const stalled = (next: Partial<InFlight> = {}): Watch =>
  aWatch({
    inFlight: [
      anInFlight('1', [kept, taken], { isStalled: true }),
      anInFlight('2', [], { removed: ['taken'], ...next }),
    ],
    search: {
      ...noSearch,
      groups: [{ units: [unitOf(kept), unitOf(taken)], isGuilty: true, isHalf: false }],
    },
  })

const acceptFirst = (watch: Watch): Watch =>
  accept(watch, watch.inFlight.slice(0, 1), clusterType, 'delta')

const suspects = ({ search }: Watch): ReadonlyArray<string> =>
  suspectsOf(search).map(({ name }) => name)

describe('the late answer to clusters that were waited for too long', () => {
  test('settles what has not been touched since, and clears it of suspicion', () => {
    const after = acceptFirst(stalled())
    expect(after.hasAccepted).toBe(true)
    expect(isCertain(after.holding, kept)).toBe(true)
    expect(suspects(after)).toEqual(['taken'])
  })

  test('does not settle what has been taken out since', () => {
    const after = acceptFirst(stalled())
    expect(isCertain(after.holding, taken)).toBe(false)
    expect(PM.get(after.holding.unsure, 'taken')?.forms).toEqual([taken])
  })

  test('does not settle what has been sent in another form since', () => {
    const newer = anInFlight('2', [aResource('kept=3')])
    const after = acceptFirst(stalled(newer))
    expect(isCertain(after.holding, kept)).toBe(false)
    expect(PM.get(after.holding.unsure, 'kept')?.forms).toEqual([kept])
  })

  test('leaves the suspects as they are while one of them is tried: the next answer speaks of that', () => {
    const after = acceptFirst(stalled({ trial: [unitOf(taken)] }))
    expect(suspects(after)).toEqual(['kept', 'taken'])
    expect(isCertain(after.holding, kept)).toBe(true)
  })

  test('settles what has been sent again since in the same form', () => {
    const after = acceptFirst(stalled({ resources: [kept] }))
    expect(isCertain(after.holding, kept)).toBe(true)
    expect(suspects(after)).toEqual(['taken'])
  })

  const gone = aResource('gone=1')
  const removal = (next: InFlight): Watch =>
    aWatch({
      inFlight: [anInFlight('1', [], { removed: ['gone'], isStalled: true }), next],
      holding: { acked: PM.fromEntries([gone]), unsure: undefined },
    })

  test('settles what it took away, if that has not come back since', () => {
    const { holding } = acceptFirst(removal(anInFlight('2', [kept])))
    expect(PM.get(holding.acked, 'gone')).toBeUndefined()
    expect(PM.get(holding.unsure, 'gone')).toBeUndefined()
  })

  test('does not settle what it took away and what has come back since', () => {
    const { holding } = acceptFirst(removal(anInFlight('2', [gone])))
    expect(PM.get(holding.unsure, 'gone')?.accepted).toBe(gone)
  })

  test('settles everything, and all that was taken away, where nothing else is on its way', () => {
    const late = anInFlight('1', [kept], { removed: ['taken'], isStalled: true })
    const holding = { acked: PM.fromEntries([taken]), unsure: undefined }
    const after = acceptFirst(aWatch({ inFlight: [late], holding }))
    expect([...PM.entries(after.holding.acked)]).toEqual([kept])
    expect(after.holding.unsure).toBeUndefined()
  })
})

test('D: of two clusters that were not ready in time the one that may be in use is not tried once it is accepted late', () => {
  const stream = openDelta()
  stream.publish({ cds: 'a=2 bad' })
  expect(stream.ask('cds', { initial: { a: 'of another control plane' } })).toEqual(['cds a=2 bad'])
  stream.pass(10)
  // It is alive, so that the clusters are to blame.
  stream.ask('lds')
  expect(stream.pass(5_000)).toEqual(['cds -bad'])
  const [first] = stream.responses()
  expect(stream.ask('cds', {}, { responseNonce: first?.nonce ?? '' })).toEqual([])
  expect(stream.ack('cds')).toEqual(['cds bad'])
  stream.nack('cds')
  expect(notes(stream)).toContain('Convicted')
  expect(stream.responses().flatMap(({ removed }) => removed)).not.toContain('a')
})
