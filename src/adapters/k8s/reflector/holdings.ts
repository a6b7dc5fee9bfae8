import { entries, get, type PersistentMap, remove, set } from '../../../core/persistent-map.js'

/** An object of the server, and what is kept of it. */
export interface Reflected<A> {
  /** `namespace/name`. */
  readonly name: string
  readonly uid: string
  /** Opaque: good for telling whether it is the same form, and for nothing else. */
  readonly resourceVersion: string
  /** What it is selected by; `undefined` where everything is kept. */
  readonly group: string | undefined
  readonly value: A
}

/** What has become of one object. Objects of one name never overlap: the old one is deleted first. */
export type Change<A> =
  | { readonly _tag: 'Added'; readonly object: Reflected<A> }
  /** The same object, with the same uid, in another form. */
  | { readonly _tag: 'Modified'; readonly object: Reflected<A>; readonly before: Reflected<A> }
  /** In its last form that was known. */
  | { readonly _tag: 'Deleted'; readonly object: Reflected<A> }

/** By name. */
export type Objects<A> = PersistentMap<Reflected<A>>

/** Objects, and which of them belong to a group. */
export interface Holdings<A> {
  readonly objects: Objects<A>
  readonly groups: PersistentMap<Group>
}

interface Group {
  readonly name: string
  /** The names of its objects: the slices of one Service, which are few. */
  readonly members: ReadonlyArray<string>
}

export type Changed<A> = readonly [held: Holdings<A>, changes: ReadonlyArray<Change<A>>]

export const nothingHeld: Holdings<never> = { objects: undefined, groups: undefined }

/**
 * Takes in an object. One that was there under its name with another uid was deleted in between: that is told
 * first. The form that is held already changes nothing. Costs O(log n), and the size of its group.
 */
export const put = <A>(held: Holdings<A>, object: Reflected<A>): Changed<A> => {
  const before = get(held.objects, object.name)
  if (before?.uid === object.uid && before.resourceVersion === object.resourceVersion)
    return [held, []]
  const groups =
    before !== undefined && before.group === object.group
      ? held.groups
      : join(leave(held.groups, before), object)
  const next = { objects: set(held.objects, object), groups }
  if (before === undefined) return [next, [{ _tag: 'Added', object }]]
  if (before.uid === object.uid) return [next, [{ _tag: 'Modified', object, before }]]
  return [
    next,
    [
      { _tag: 'Deleted', object: before },
      { _tag: 'Added', object },
    ],
  ]
}

/** Lets go of an object; of one with another uid under this name nothing is known by that. Costs as `put` does. */
export const drop = <A>(held: Holdings<A>, name: string, uid?: string): Changed<A> => {
  const object = get(held.objects, name)
  if (object === undefined || (uid !== undefined && uid !== object.uid)) return [held, []]
  const next = { objects: remove(held.objects, name), groups: leave(held.groups, object) }
  return [next, [{ _tag: 'Deleted', object }]]
}

/** Lets go of all objects of a group. */
export const dropGroup = <A>(held: Holdings<A>, group: string): Changed<A> =>
  each(held, get(held.groups, group)?.members ?? [], (before, name) => drop(before, name))

/**
 * Holds exactly these in place of what there was, in the form that is held where that is the same; tells first
 * what has vanished. Costs O(n log n), and O(1) space where nothing has changed.
 */
export const replace = <A>(held: Holdings<A>, objects: Objects<A>): Changed<A> => {
  const [rest, vanished] = each(held, entries(held.objects), (before, { name }) =>
    get(objects, name) === undefined ? drop(before, name) : [before, []],
  )
  const [next, news] = each(rest, entries(objects), put)
  return [next, vanished.concat(news)]
}

/** Does one thing after the other, and tells all that came of it. */
export const each = <A, B>(
  held: Holdings<A>,
  items: Iterable<B>,
  change: (held: Holdings<A>, item: B) => Changed<A>,
): Changed<A> => {
  const all: Array<Change<A>> = []
  let last = held
  for (const item of items) {
    const [next, changes] = change(last, item)
    all.push(...changes)
    last = next
  }
  return [last, all]
}

const join = <A>(
  groups: PersistentMap<Group>,
  { name, group }: Reflected<A>,
): PersistentMap<Group> => {
  if (group === undefined) return groups
  const members = get(groups, group)?.members ?? []
  return set(groups, { name: group, members: [...members, name] })
}

const leave = <A>(
  groups: PersistentMap<Group>,
  object: Reflected<A> | undefined,
): PersistentMap<Group> => {
  if (object?.group === undefined) return groups
  const members = (get(groups, object.group)?.members ?? []).filter((name) => name !== object.name)
  return members.length === 0
    ? remove(groups, object.group)
    : set(groups, { name: object.group, members })
}
