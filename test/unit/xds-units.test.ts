import { defaultDataPlane, snapshotOf } from 'edgewright'
import { expect, test } from 'vitest'
import { compose, formsIn } from '../../src/core/compose.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { viewOf } from '../../src/core/snapshot.js'
import { routeType } from '../../src/core/type-url.js'
import { keyOf, noSearch, type Search, type Unit } from '../../src/core/xds/search.js'
import { unitsOf } from '../../src/core/xds/units.js'
import { anInFlight, aWatch } from '../support/in-flight.js'
import { aRoute } from '../support/ledger-nodes.js'
import { aResource } from '../support/xds.js'

/** The table with these routes, each in the form of a generation. */
const aTable = (forms: Readonly<Record<string, number>>): Resource => {
  const routes = Object.entries(forms).map(([name, generation]) => aRoute(name, generation))
  const [table] = [...PM.entries(viewOf(snapshotOf(routes), defaultDataPlane)[routeType])]
  if (table === undefined) throw new Error('there is no table')
  return table
}

const convictedOf = (...units: ReadonlyArray<Unit>): Search['convicted'] =>
  new Map(
    units.map((unit) => [
      keyOf(unit),
      { unit, evidence: { message: '', kind: 'Refused', nowMs: 0 }, times: 1 },
    ]),
  )

interface Case {
  readonly accepted?: ReadonlyArray<Resource>
  readonly refused: ReadonlyArray<Resource>
  readonly convicted?: Search['convicted']
}

const unitsIn = ({
  accepted = [],
  refused,
  convicted = new Map(),
}: Case): ReadonlyArray<string> => {
  const holding = { acked: PM.fromEntries(accepted), unsure: undefined }
  const watch = aWatch({ holding, search: { ...noSearch, convicted } })
  return unitsOf(watch, [anInFlight('1', refused)]).map(({ kind, name }) => `${kind} ${name}`)
}

test('what the client has accepted in this very form was not the reason', () => {
  const refused = [aResource('a=1'), aResource('b=2')]
  expect(unitsIn({ accepted: [aResource('a=1'), aResource('b=1')], refused })).toEqual([
    'Resource b',
  ])
})

test('what stands in the place of something refused is not suspected: there is nothing to go back to', () => {
  const convicted = convictedOf({ kind: 'Resource', name: 'a', version: aResource('a=2').version })
  expect(unitsIn({ refused: [aResource('a=1')], convicted })).toEqual([])
  expect(unitsIn({ refused: [aResource('a=2')], convicted })).toEqual(['Resource a'])
})

test('of a table those objects are suspected that stand in it in another form than was accepted', () => {
  const accepted = [aTable({ a: 1, b: 1, c: 1 })]
  expect(unitsIn({ accepted, refused: [aTable({ a: 1, b: 2, c: 1, d: 1 })] })).toEqual([
    'Owner b',
    'Owner d',
  ])
})

test('a table that has only lost objects is suspected as a whole', () => {
  const accepted = [aTable({ a: 1, b: 1 })]
  expect(unitsIn({ accepted, refused: [aTable({ a: 1 })] })).toEqual(['Resource http'])
})

test('an object that is there with its claims alone is suspected of these, in the form that was refused', () => {
  const table = aTable({ a: 1, b: 1 })
  const version = formsIn(table).get('b') ?? ''
  const convicted = convictedOf({ kind: 'Owner', name: 'b', version })
  const accepted = [aTable({ a: 1 })]
  const refused = [compose(table, undefined, new Map([['b', 'Unavailable']]))]
  expect(unitsIn({ accepted, refused, convicted })).toEqual(['Claims b'])
  const watch = aWatch({
    holding: { acked: PM.fromEntries(accepted), unsure: undefined },
    search: { ...noSearch, convicted },
  })
  expect(unitsOf(watch, [anInFlight('1', refused)])[0]?.version).toBe(version)
})

test('of one object in two responses each form is suspected once', () => {
  const [one, two] = [aTable({ a: 1 }), aTable({ a: 2 })]
  const watch = aWatch()
  const units = unitsOf(watch, [anInFlight('1', [one]), anInFlight('2', [one, two])])
  expect(units.map(({ version }) => version)).toEqual([
    formsIn(one).get('a'),
    formsIn(two).get('a'),
  ])
})
