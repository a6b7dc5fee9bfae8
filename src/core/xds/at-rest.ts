import { changedOwners, formsIn, standsIn } from '../compose.js'
import type { Resource, Uid } from '../resource.js'
import type { Unsure } from './holding.js'
import { keyOf, resourceKey, type Search } from './search.js'

/**
 * True of a name whose doubt may stay: each of its forms was refused alone, and would bring nothing but what
 * is convicted and still wanted.
 *
 * A form with anything else in it, such as an object that is deleted by now, would stand for something that the
 * client may serve for as long as the conviction of another one lasts. And of what may be anything it is to be said
 * again what it is.
 */
export const isAtRest = (entry: Unsure, { convicted }: Pick<Search, 'convicted'>): boolean =>
  entry.isAtomic &&
  !entry.isUnknown &&
  convicted.size > 0 &&
  entry.forms.every((form) => bringsOnlyConvicted(entry, form, convicted))

const bringsOnlyConvicted = (
  { accepted }: Unsure,
  form: Resource,
  convicted: Search['convicted'],
): boolean => {
  const whole = convicted.get(resourceKey(form.name))?.unit
  if (whole?.version === form.version) return true
  if (form.content._tag === 'Bytes')
    return whole !== undefined && form.owners.every((uid) => accepted?.owners.includes(uid))
  const forms = formsIn(form)
  return [...broughtBy(accepted, form)].every((name) => {
    const version = forms.get(name)
    if (version === undefined) return true
    return standsIn(form, name)
      ? convicted.has(keyOf({ kind: 'Owner', name, version }))
      : [...convicted.values()].some(({ unit }) => unit.kind === 'Claims' && unit.name === name)
  })
}

/** Asked again at every event, of the same two. */
const broughtBy = (accepted: Resource | undefined, form: Resource): ReadonlySet<Uid> => {
  const known = brought.get(form)
  if (known !== undefined && known.accepted === accepted) return known.owners
  const owners = changedOwners(accepted, form)
  brought.set(form, { accepted, owners })
  return owners
}

const brought = new WeakMap<
  Resource,
  { readonly accepted: Resource | undefined; readonly owners: ReadonlySet<Uid> }
>()
