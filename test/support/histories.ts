import fc from 'fast-check'
import type { Context, EndpointSlice, Service } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { TableForm } from '../../src/core/table-form.js'
import { emptyWorld, type World } from '../../src/core/translator.js'
import { mayBeSharded, tableForms } from './forms.js'
import { world } from './oracle/world.js'

/** All that can be there at one time or another, and what is there after each step: by its places. */
export interface History {
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

/** Worlds that come after each other, in one form and in another. */
export const history: fc.Arbitrary<History> = fc
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
