import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import type { Context, EndpointSlice, Service } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { changedKeys } from '../../src/core/ordered-map.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import type { TableForm } from '../../src/core/table-form.js'
import { translate } from '../../src/core/translate.js'
import { emptyWorld, translator, type World, worldChange } from '../../src/core/translator.js'
import { typeUrls } from '../../src/core/type-url.js'
import { inForms, mayBeSharded, tableForms } from '../support/forms.js'
import { contentOf, verdictText } from '../support/oracle/content.js'
import { world } from '../support/oracle/world.js'

/** All that can be there at one time or another, and what is there after each step: by its places. */
interface History {
  readonly dataPlanes: Context['dataPlanes']
  readonly routes: ReadonlyArray<EdgeRoute>
  readonly services: ReadonlyArray<Service>
  readonly endpointSlices: ReadonlyArray<EndpointSlice>
  readonly steps: ReadonlyArray<Step>
}

/** What is there after a step, and which forms it has brought. */
interface Step extends World {
  readonly forms: ReadonlyMap<string, TableForm>
}

/** Later forms of an object beside it: as it was, with what another one wants, older, and about to go. */
const formsOf = (route: EdgeRoute, other: EdgeRoute): ReadonlyArray<EdgeRoute> => {
  const { metadata, spec } = route
  const later = { ...metadata, generation: metadata.generation + 1 }
  return [
    route,
    { metadata: later, spec },
    { metadata: later, spec: other.spec },
    { metadata: { ...later, creationTimestamp: '2020-01-01T00:00:00Z' }, spec },
    { metadata: { ...later, deletionTimestamp: '2026-01-01T00:00:00Z' }, spec },
  ]
}

/** Puts in what is not there and takes out what is, at these places. */
const toggled = <A>(
  all: ReadonlyArray<A>,
  present: ReadonlyArray<A>,
  places: ReadonlyArray<number>,
): ReadonlyArray<A> =>
  places.reduce<ReadonlyArray<A>>((list, place) => {
    const item = all.at(place % Math.max(1, all.length))
    if (item === undefined) return list
    return list.includes(item) ? list.filter((each) => each !== item) : [...list, item]
  }, present)

const places = (maxLength: number): fc.Arbitrary<ReadonlyArray<number>> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.nat(40), { maxLength }) },
  )

const forms: fc.Arbitrary<ReadonlyMap<string, TableForm>> = fc
  .array(fc.tuple(fc.constantFrom('edge-envoy', 'other', 'nowhere'), tableForms), { maxLength: 1 })
  .map((all) => new Map(all))

const step = fc.record({
  routes: places(6),
  services: places(3),
  endpointSlices: places(3),
  forms,
})

const history: fc.Arbitrary<History> = fc
  .tuple(world, world, fc.array(step, { minLength: 1, maxLength: 12 }))
  .chain(([one, two, toggles]) =>
    mayBeSharded(one.context.dataPlanes).map((dataPlanes) => ({ one, two, toggles, dataPlanes })),
  )
  .map(({ one, two, toggles, dataPlanes }) => {
    const both = [...one.routes, ...two.routes]
    const routes = both.flatMap((route, i) => formsOf(route, both.at(i - 1) ?? route))
    const services = [...one.context.services, ...two.context.services]
    const endpointSlices = [...one.context.endpointSlices, ...two.context.endpointSlices]
    const steps: Array<Step> = []
    for (const each of toggles) {
      const last = steps.at(-1) ?? emptyWorld
      steps.push({
        routes: toggled(routes, last.routes, each.routes),
        services: toggled(services, last.services, each.services),
        endpointSlices: toggled(endpointSlices, last.endpointSlices, each.endpointSlices),
        forms: each.forms,
      })
    }
    return { dataPlanes, routes, services, endpointSlices, steps }
  })

const runs = { numRuns: 1000 }

test.prop([history], runs)(
  'after every change it says, byte for byte and word for word, what a translation of all there is says',
  ({ dataPlanes, steps }) => {
    const incremental = translator(dataPlanes)
    let before = emptyWorld
    let inForce = dataPlanes
    for (const { forms: given, ...now } of steps) {
      const actual = incremental.update({ ...worldChange(before, now), forms: given })
      before = now
      inForce = inForms(inForce, given)
      const expected = translate(now.routes, { ...now, dataPlanes: inForce })
      expect(contentOf(actual.snapshot)).toBe(contentOf(expected.snapshot))
      expect(verdictText(actual)).toBe(verdictText(expected))
      expect([...actual.hosts]).toStrictEqual([...expected.hosts])
    }
  },
)

const resourcesOf = (translation: ReturnType<typeof translate>): ReadonlyMap<string, Resource> =>
  new Map(
    [...translation.snapshot.dataPlanes].flatMap(([plane, view]) =>
      typeUrls.flatMap((typeUrl) =>
        [...PM.entries(view[typeUrl])].map((each) => [`${plane} ${typeUrl} ${each.name}`, each]),
      ),
    ),
  )

test.prop([history], runs)(
  'what a change does not touch is the very same: resources, types, data planes, verdicts',
  ({ dataPlanes, steps }) => {
    const incremental = translator(dataPlanes)
    let last = incremental.update(worldChange(emptyWorld, emptyWorld))
    let before = emptyWorld
    for (const { forms: given, ...now } of steps) {
      const next = incremental.update({ ...worldChange(before, now), forms: given })
      const known = resourcesOf(last)
      for (const [name, resource] of resourcesOf(next)) {
        const old = known.get(name)
        if (JSON.stringify(old) === JSON.stringify(resource)) expect(resource, name).toBe(old)
      }
      const said = changedKeys(last.verdicts, next.verdicts)
      const differ = [...new Set([...last.verdicts.keys(), ...next.verdicts.keys()])].filter(
        (uid) => JSON.stringify(last.verdicts.get(uid)) !== JSON.stringify(next.verdicts.get(uid)),
      )
      expect(said).toEqual(differ.sort())
      const isSame = JSON.stringify([...known]) === JSON.stringify([...resourcesOf(next)])
      expect(next.snapshot === last.snapshot).toBe(isSame)
      before = now
      last = next
    }
  },
)
