import { expect, test } from 'vitest'
import {
  type Backlog,
  emptyBacklog,
  hold,
  type Knowing,
  maxHeldChanges,
  show,
} from '../../src/adapters/k8s/cluster/backlog.js'
import type { Change } from '../../src/adapters/k8s/informers/index.js'
import { type SeenRoute, seeRoute } from '../../src/adapters/k8s/informers/route-view.js'
import { size } from '../../src/core/persistent-map.js'

/** A new route that names a Service of its own name. */
const additionOf = (name: string): Change<SeenRoute> => {
  const metadata = { namespace: 'shop', name, uid: name, generation: 1 }
  const spec = { backends: [{ service: { name, port: 80 } }] }
  const value = seeRoute({ metadata, spec }, undefined)
  const of = { name: `shop/${name}`, uid: name, resourceVersion: '1', group: undefined }
  return { _tag: 'Added', object: { ...of, value } }
}

const additions = (from: number, to: number): ReadonlyArray<Change<SeenRoute>> =>
  Array.from({ length: to - from }, (_, i) => additionOf(`r${from + i}`))

const knowing = (isKnown: (service: string) => boolean): Knowing => ({
  isKnown,
  placeOf: () => 'services',
})
const nothing = knowing(() => false)

const shown = ({ routes }: Backlog): number => size(routes)

test('the first state waits, however many routes there are', () => {
  const many = maxHeldChanges + 1
  const held = hold(emptyBacklog, additions(0, many), 0)
  expect(show(held, nothing, 1e9)).toBe(held)
  expect(held.held).toEqual([])
  const known = show(
    held,
    knowing(() => true),
    1_000,
  )
  expect(shown(known)).toBe(many)
})

test('of many changes that wait for one that was before them, not more than a bounded number do', () => {
  const known = knowing((service) => service !== 'shop/r0')
  const first = show(hold(emptyBacklog, [], 0), nothing, 0)
  const waiting = hold(hold(first, additions(0, 1), 0), additions(1, maxHeldChanges + 1), 0)
  expect(shown(show(waiting, known, 1))).toBe(0)
  const more = hold(waiting, [additionOf('one-more')], 0)
  expect(shown(show(more, known, 1))).toBe(maxHeldChanges + 2)
})
