import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { derivedTable } from '../../src/core/derive-tables.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { emptyView, type View, view, viewOf } from '../../src/core/snapshot.js'
import type { TableForm } from '../../src/core/table-form.js'
import { translate } from '../../src/core/translate.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'
import { listenerType, routeType } from '../../src/core/type-url.js'
import { inForms, tableForms } from '../support/forms.js'
import { history } from '../support/histories.js'
import { contentOf } from '../support/oracle/content.js'
import { world } from '../support/oracle/world.js'

const runs = { numRuns: 500 }

const plane = 'edge-envoy'

type World = typeof world extends fc.Arbitrary<infer W> ? W : never

const viewIn = ({ routes, context }: World, form: TableForm): View => {
  const dataPlanes = inForms(context.dataPlanes, new Map([[plane, form]]))
  return translate(routes, { ...context, dataPlanes }).snapshot.dataPlanes.get(plane) ?? emptyView
}

/** Everything of these tables: names, versions, bytes, references and owners. */
const textOf = (tables: Iterable<Resource>): string =>
  contentOf({ dataPlanes: new Map([[plane, view({ [routeType]: tables })]]) })

/** The table as it is published, or as it is derived: undefined where it is neither. */
const tableFor = (name: string, published: View): ReadonlyArray<Resource> =>
  [PM.get(published[routeType], name) ?? derivedTable(name, published)].flatMap(
    (table) => table ?? [],
  )

test.prop([world, tableForms, tableForms], runs)(
  'of the tables of one form those of every other are derived as a translation makes them',
  (one, from, to) => {
    const published = viewIn(one, from)
    const wanted = [...PM.entries(viewIn(one, to)[routeType])]
    // Without a listener there is no whole table, and nobody who could ask for one.
    fc.pre(published[listenerType] !== undefined)
    expect(textOf(wanted.flatMap(({ name }) => tableFor(name, published)))).toBe(textOf(wanted))
  },
)

test.prop([world, tableForms], runs)(
  'a table is derived once of what is published, and of other names there is none',
  (one, form) => {
    const published = viewIn(one, form)
    const known = ['shard-7-0', 'shard-2-1', 'shard-7-6']
    const derived = known.map((name) => derivedTable(name, published))
    known.forEach((name, i) => expect(derivedTable(name, published)).toBe(derived[i]))
    for (const name of ['shard-7-7', 'shard-07-1', 'shard-7', 'shard-4097-0', 'elsewhere'])
      expect(derivedTable(name, published)).toBeUndefined()
    const isWhole = form._tag === 'Whole'
    const foreign = { ...published, [listenerType]: PM.fromEntries([]) }
    for (const { name } of PM.entries(published[listenerType])) {
      expect(derivedTable(name, published) === undefined).toBe(isWhole)
      expect(derivedTable(name, foreign)).toBeUndefined()
    }
  },
)

/** A history, and about which moments of it is asked, one after the other, and in which forms. */
const asked = fc.tuple(
  history,
  fc.array(fc.tuple(fc.nat(11), tableForms), { minLength: 1, maxLength: 20 }),
)

test.prop([asked], { numRuns: 200 })(
  'they are, however what is published has changed, and in whatever order is asked about it',
  ([{ dataPlanes, steps }, questions]) => {
    const incremental = translator(dataPlanes)
    let before = emptyWorld
    const moments = steps.map(({ forms, ...now }) => {
      const { snapshot } = incremental.update({ ...worldChange(before, now), forms })
      before = now
      const one = { ...now, broken: new Set<string>(), context: { ...now, dataPlanes } }
      return { one, published: viewOf(snapshot, plane) }
    })
    for (const [index, form] of questions) {
      const moment = moments[index % moments.length]
      if (moment?.published[listenerType] === undefined) continue
      const wanted = [...PM.entries(viewIn(moment.one, form)[routeType])]
      const derived = wanted.flatMap(({ name }) => tableFor(name, moment.published))
      expect(textOf(derived)).toBe(textOf(wanted))
    }
  },
)
