import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import type { Resources } from '../snapshot.js'
import { isFullState, type TypeUrl } from '../type-url.js'
import { hasName, type Names } from './names.js'
import type { InFlight } from './watch.js'

/**
 * What is known of what a client holds of one type.
 *
 * What it has accepted stands here by reference, as all of it was sent; what is not sure stands beside it,
 * name by name. So a client costs memory for what is outstanding, however much it holds.
 */
export interface Holding {
  /** Of every name that the client asks for it holds this, save those in `unsure`. */
  readonly acked: Resources
  readonly unsure: PM.PersistentMap<Unsure>
}

/** A name of which nobody can say what the client holds. */
export interface Unsure {
  readonly name: string
  /** What it has accepted last, on this stream or on an earlier one. */
  readonly accepted: Resource | undefined
  /** What it was sent since, and has not accepted: parts of it may be live. */
  readonly forms: ReadonlyArray<Resource>
  /** It may hold something else besides: what it was sent when nobody took notes. */
  readonly isUnknown: boolean
  /**
   * It was always refused alone: then an Envoy keeps what it had (xDS protocol, 2.8, H4), and it is
   * sent once more only when what was refused is no more wanted.
   */
  readonly isAtomic: boolean
  /** It was sent once more, to be sure. That is done once: a client may not be able to say. */
  readonly isSettling: boolean
}

/** A name of which nothing is known but what is said here. */
export const unsureOf = (name: string, known: Partial<Unsure>): Unsure => ({
  name,
  accepted: undefined,
  forms: [],
  isUnknown: false,
  isAtomic: false,
  isSettling: false,
  ...known,
})

/** The same where it may have been another one that has accepted: then it may hold that, and may refuse it. */
export const unaccepted = (entry: Unsure): Unsure => {
  const forms = entry.accepted === undefined ? entry.forms : [entry.accepted, ...entry.forms]
  return {
    ...entry,
    accepted: undefined,
    forms: forms.slice(-maxForms),
    isUnknown: entry.isUnknown || forms.length > maxForms,
    isAtomic: false,
  }
}

/** A name that a client has just asked for: it is owed in any case, and was not refused with others. */
export const justAsked = (name: string, known: Partial<Unsure>): Unsure =>
  unsureOf(name, { isAtomic: true, isSettling: true, ...known })

export const holdsNothing: Holding = { acked: undefined, unsure: undefined }

/**
 * How many forms of one name are told apart. A search takes 25 responses; of a client that refuses
 * everything for ever it is enough to know that it may hold anything.
 */
export const maxForms = 64

/** What the client has accepted last of a name. */
export const lastAccepted = ({ acked, unsure }: Holding, name: string): Resource | undefined => {
  const entry = PM.get(unsure, name)
  return entry === undefined ? PM.get(acked, name) : entry.accepted
}

/** True if the client holds this very version of a name, for all that it has said. */
export const isCertain = (
  { acked, unsure }: Holding,
  { name, version }: Pick<Resource, 'name' | 'version'>,
): boolean => PM.get(unsure, name) === undefined && PM.get(acked, name)?.version === version

/** True if the client may hold something of which nobody knows what it is. */
export const holdsUnknown = ({ unsure }: Holding): boolean =>
  [...PM.entries(unsure)].some(({ isUnknown }) => isUnknown)

/** How a doubt came about. */
export type Doubt = Pick<Unsure, 'isAtomic' | 'isSettling'>

/** Notes that the client may hold this form of a name, or none where it was to be taken away. */
export const doubt = (
  holding: Holding,
  name: string,
  form: Resource | undefined,
  { isAtomic, isSettling }: Doubt,
): Holding => {
  const before = PM.get(holding.unsure, name)
  const known = before?.forms ?? []
  const forms = form === undefined || known.includes(form) ? known : [...known, form]
  const entry: Unsure = {
    name,
    accepted: before === undefined ? PM.get(holding.acked, name) : before.accepted,
    forms: forms.slice(-maxForms),
    isUnknown: (before?.isUnknown ?? false) || forms.length > maxForms,
    isAtomic: isAtomic && (before?.isAtomic ?? true),
    // A removal that was refused once more is not said a third time: nothing else could be said.
    isSettling: isSettling || (form === undefined && (before?.isSettling ?? false)),
  }
  return { ...holding, unsure: PM.set(holding.unsure, entry) }
}

/** Notes that a response has left which says something of these names. */
export const markSettling = (holding: Holding, names: ReadonlyArray<string>): Holding => {
  if (holding.unsure === undefined) return holding
  const unsure = names.reduce<Holding['unsure']>((map, name) => {
    const entry = PM.get(map, name)
    return entry === undefined || entry.isSettling
      ? map
      : PM.set(map, { ...entry, isSettling: true })
  }, holding.unsure)
  return { ...holding, unsure }
}

/** Puts these in the place of what is known of their names. */
export const recall = (holding: Holding, entries: ReadonlyArray<Unsure>): Holding => ({
  ...holding,
  unsure:
    holding.unsure === undefined
      ? PM.fromEntries(entries)
      : entries.reduce(PM.set<Unsure>, holding.unsure),
})

/**
 * Notes that the client has accepted a response.
 *
 * A route table or an assignment that it accepted to lose it keeps all the same (xDS protocol,
 * statement 57): of those the removal settles nothing, unless it never held any. Where a response is the
 * whole truth nothing is left to doubt.
 */
export const settleWith = (
  holding: Holding,
  { resources, removed, target }: Pick<InFlight, 'resources' | 'removed' | 'target'>,
  typeUrl: TypeUrl,
  /** Where a response is the whole truth: the names that it was too early for. */
  notYetSent: Names | 'OneByOne',
): Holding => {
  const { unsure } = holding
  if (unsure === undefined) return { acked: target, unsure }
  if (notYetSent !== 'OneByOne') {
    const left = [...PM.entries(unsure)].filter(({ name }) => hasName(notYetSent, name))
    return { acked: target, unsure: PM.fromEntries(left) }
  }
  const settled = resources.reduce<PM.PersistentMap<Unsure>>(
    (rest, { name }) => PM.remove(rest, name),
    unsure,
  )
  return {
    acked: target,
    unsure: removed
      .filter((name) => isFullState(typeUrl) || holdsNothingOf(PM.get(unsure, name)))
      .reduce<PM.PersistentMap<Unsure>>((rest, name) => PM.remove(rest, name), settled),
  }
}

const holdsNothingOf = (entry: Unsure | undefined): boolean =>
  entry !== undefined &&
  entry.accepted === undefined &&
  entry.forms.length === 0 &&
  !entry.isUnknown

/** Everything that the client may hold under a name, in flight or held; an absence is not among it. */
export const possibleForms = (
  { acked, unsure }: Holding,
  inFlight: ReadonlyArray<InFlight>,
  name: string,
): ReadonlyArray<Resource> => {
  const entry = PM.get(unsure, name)
  const held = entry === undefined ? PM.get(acked, name) : entry.accepted
  const onItsWay = inFlight.flatMap(({ resources }) =>
    resources.filter((resource) => resource.name === name),
  )
  return [...(held === undefined ? [] : [held]), ...(entry?.forms ?? []), ...onItsWay]
}

/**
 * Takes, for tables that the client has accepted, those of the target that say the very same: whose objects are in
 * them may have changed, and nothing is sent for that. Costs O(d log n) for d tables that are not the very same.
 */
export const adopt = (holding: Holding, target: Resources): Holding => {
  if (holding.acked === target && holding.unsure === undefined) return holding
  let { acked, unsure } = holding
  for (const { before, after } of PM.changes(acked, target))
    if (before !== undefined && after !== undefined && before.version === after.version)
      acked = PM.set(acked, after)
  for (const entry of PM.entries(unsure)) {
    const table = PM.get(target, entry.name)
    if (table === undefined) continue
    const of = (form: Resource): Resource => (form.version === table.version ? table : form)
    if ([entry.accepted, ...entry.forms].some((form) => form !== undefined && of(form) !== form))
      unsure = PM.set(unsure, {
        ...entry,
        accepted: entry.accepted && of(entry.accepted),
        forms: entry.forms.map(of),
      })
  }
  return { acked, unsure }
}
