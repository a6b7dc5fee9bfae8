import type { Context } from './context.js'
import * as PM from './persistent-map.js'
import type { Uid } from './resource.js'
import { haveSameOwners } from './resource.js'
import { type Resources, viewOf } from './snapshot.js'
import type { Translation } from './translate.js'
import { noChange } from './translator/list-change.js'
import { translator, type World } from './translator.js'
import { type TypeUrl, typeUrls } from './type-url.js'

/** Something that a translation says otherwise than it should. */
export type AuditDifference =
  | {
      readonly _tag: 'Resource'
      readonly dataPlane: string
      readonly typeUrl: TypeUrl
      readonly name: string
    }
  | { readonly _tag: 'Verdict'; readonly uid: Uid }

/** How many objects, or resources, are looked at before others get their turn: some milliseconds of work. */
const partSize = 200

/**
 * Translates a world from nothing, and compares that with what `actual` says: the translation of the same world, made
 * by changes. Yields each time that it has done a part, for its caller to see to other things meanwhile: both are
 * values, which nothing changes.
 *
 * Costs what a translation of everything does, and its memory. Whoever stops it half-way loses nothing.
 */
export function* audit(
  dataPlanes: Context['dataPlanes'],
  world: World,
  actual: Translation,
): Generator<void, ReadonlyArray<AuditDifference>, void> {
  const expected = yield* translatedInParts(dataPlanes, world)
  const found: Array<AuditDifference> = []
  const names = new Set([
    ...expected.snapshot.dataPlanes.keys(),
    ...actual.snapshot.dataPlanes.keys(),
  ])
  for (const dataPlane of names)
    for (const typeUrl of typeUrls) {
      const resources = [expected, actual].map(
        ({ snapshot }) => viewOf(snapshot, dataPlane)[typeUrl],
      )
      for (const name of yield* differingNames(resources[0], resources[1]))
        found.push({ _tag: 'Resource', dataPlane, typeUrl, name })
    }
  for (const uid of yield* differingVerdicts(expected, actual)) found.push({ _tag: 'Verdict', uid })
  return found
}

function* translatedInParts(
  dataPlanes: Context['dataPlanes'],
  { routes, services, endpointSlices }: World,
): Generator<void, Translation, void> {
  const { update } = translator(dataPlanes)
  const none = { routes: noChange, services: noChange, endpointSlices: noChange }
  let last = update(none)
  for (const added of parts(services)) {
    last = update({ ...none, services: { removed: [], added } })
    yield
  }
  for (const added of parts(endpointSlices)) {
    last = update({ ...none, endpointSlices: { removed: [], added } })
    yield
  }
  for (const added of parts(routes)) {
    last = update({ ...none, routes: { removed: [], added } })
    yield
  }
  return last
}

function* parts<A>(all: ReadonlyArray<A>): Generator<ReadonlyArray<A>, void, void> {
  for (let from = 0; from < all.length; from += partSize) yield all.slice(from, from + partSize)
}

function* differingNames(
  expected: Resources,
  actual: Resources,
): Generator<void, ReadonlyArray<string>, void> {
  const found: Array<string> = []
  let looked = 0
  for (const resource of PM.entries(expected)) {
    const other = PM.get(actual, resource.name)
    const isSame = other?.version === resource.version && haveSameOwners(resource, other)
    if (!isSame) found.push(resource.name)
    if ((looked += 1) % partSize === 0) yield
  }
  for (const { name } of PM.entries(actual)) {
    if (PM.get(expected, name) === undefined) found.push(name)
    if ((looked += 1) % partSize === 0) yield
  }
  return found
}

function* differingVerdicts(
  { verdicts: expected }: Translation,
  { verdicts: actual }: Translation,
): Generator<void, ReadonlyArray<Uid>, void> {
  const found: Array<Uid> = []
  let looked = 0
  for (const uid of new Set([...expected.keys(), ...actual.keys()])) {
    // They are plain data, always put together in the same order of fields.
    if (JSON.stringify(expected.get(uid)) !== JSON.stringify(actual.get(uid))) found.push(uid)
    if ((looked += 1) % partSize === 0) yield
  }
  return found
}
