import { changedOwners, formsIn, standsIn } from '../compose.js'
import type { Resource } from '../resource.js'
import { lastAccepted } from './holding.js'
import { keyOf, resourceKey, type Search, type Unit } from './search.js'
import type { InFlight, Watch } from './watch.js'

/**
 * What was new to the client in refused responses: what it has accepted once was not the reason, and what stands
 * in the place of something refused has no place to go back to.
 */
export const unitsOf = (
  { holding, search }: Watch,
  refused: ReadonlyArray<InFlight>,
): ReadonlyArray<Unit> => {
  const units = new Map<string, Unit>()
  for (const resource of refused.flatMap(({ resources }) => resources)) {
    const accepted = lastAccepted(holding, resource.name)
    const { name } = resource
    const convicted = search.convicted.get(resourceKey(name))?.unit
    const isSubstitute = convicted !== undefined && convicted.version !== resource.version
    if (isSubstitute || accepted?.version === resource.version) continue
    for (const unit of unitsIn(resource, accepted, search)) units.set(keyOf(unit), unit)
  }
  return [...units.values()]
}

/**
 * The objects that a table brings in another form; the table itself, where it is no matter of objects. Of
 * an object that is not there in a form of its own, that its claims answer 503.
 */
const unitsIn = (
  resource: Resource,
  accepted: Resource | undefined,
  { convicted }: Search,
): ReadonlyArray<Unit> => {
  const whole: Unit = { kind: 'Resource', name: resource.name, version: resource.version }
  if (resource.content._tag === 'Bytes') return [whole]
  const forms = formsIn(resource)
  const owners = [...changedOwners(accepted, resource)].flatMap<Unit>((name) => {
    const version = forms.get(name)
    if (version === undefined) return []
    if (standsIn(resource, name)) return [{ kind: 'Owner', name, version }]
    const refused = refusedForm(convicted, name)
    return [{ kind: 'Claims', name, version: refused ?? version }]
  })
  return owners.length === 0 ? [whole] : owners
}

const refusedForm = (convicted: Search['convicted'], uid: string): string | undefined =>
  [...convicted.values()].findLast(({ unit }) => unit.kind === 'Owner' && unit.name === uid)?.unit
    .version
