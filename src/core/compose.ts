import { type Digest, digestStrings } from './digest.js'
import { changedHost } from './host-form.js'
import { compareStrings, hasSorted } from './order.js'
import * as PM from './persistent-map.js'
import {
  type Fragment,
  type Resource,
  type RouteTable,
  type TableHost,
  tableResource,
  type Uid,
} from './resource.js'
import { type SortedChange, sortedChanges } from './sorted-changes.js'
import { isUnavailable, unavailable } from './translate/unavailable.js'

/** What stands in a table in the place of an object's present form. */
export type Substitute =
  /** What the table held of it before: nothing, if that is so. */
  | 'Previous'
  /** Its claims, answered with 503: its traffic must not fall to another route. */
  | 'Unavailable'
  /** Nothing. */
  | 'Absent'

/** The objects that a client does not get in their present form, by uid. Empty as a rule. */
export type Overlay = ReadonlyMap<Uid, Substitute>

/**
 * How many compositions of one table are kept, so that clients with equal overlays are sent the very same
 * resource, which is encoded once. A fleet on its way has a handful.
 */
const keptCompositions = 8

/**
 * The table that a client gets in place of `goal`: with the substitutes that the overlay asks for.
 *
 * `base` is the table that it has accepted, where the previous forms come from. A previous form gives way
 * where its claim belongs to another object by now. Guarantees: with nothing to put in place it is `goal`
 * itself; of equal arguments it makes one and the same resource, within `keptCompositions`. Tables of plain
 * bytes stay as they are. Costs O(fragments).
 */
export const compose = (goal: Resource, base: Resource | undefined, overlay: Overlay): Resource => {
  if (goal.content._tag === 'Bytes') return goal
  const concerned = [...overlay].filter(
    ([uid, substitute]) =>
      ownsIn(goal, uid) || (substitute === 'Previous' && base !== undefined && ownsIn(base, uid)),
  )
  if (concerned.length === 0) return goal
  const key = concerned
    .map(([uid, substitute]) => `${substitute} ${uid}`)
    .sort(compareStrings)
    .join('\n')
  const known = compositions.get(goal) ?? []
  const hit = known.find((each) => each.base === base && each.key === key)
  if (hit !== undefined) return hit.resource
  const table = substitute(goal.content.table, tableOf(base), new Map(concerned))
  const resource = tableResource(goal.name, table)
  compositions.set(goal, [{ base, key, resource }, ...known].slice(0, keptCompositions))
  return resource
}

interface Composition {
  readonly base: Resource | undefined
  readonly key: string
  readonly resource: Resource
}

const compositions = new WeakMap<Resource, ReadonlyArray<Composition>>()

/**
 * What becomes of a table that is published no more, as long as a client asks for it: connections that are
 * drained go on with it. Each of its fragments takes the form that it has in the other tables; one that
 * stands in none of them goes. Nothing new comes in. Costs O(fragments).
 */
export const retire = (table: Resource, published: PM.PersistentMap<Resource>): Resource => {
  const known = retired.get(table)
  if (known !== undefined && known.published === published) return known.result
  const result = takePresentForms(table, PM.entries(published))
  retired.set(table, { published, result })
  return result
}

const retired = new WeakMap<
  Resource,
  { readonly published: PM.PersistentMap<Resource>; readonly result: Resource }
>()

const takePresentForms = (table: Resource, published: Iterable<Resource>): Resource => {
  if (table.content._tag === 'Bytes') return table
  const present = new Map<string, Fragment>()
  for (const { content } of published)
    for (const fragment of fragmentsOf(content)) present.set(identityOf(fragment), fragment)
  const old = table.content.table
  const virtualHosts = old.virtualHosts.map((host) =>
    changedHost(
      host,
      host.fragments.flatMap((each) => present.get(identityOf(each)) ?? []),
    ),
  )
  const isSame = virtualHosts.every(({ fragments }, index) =>
    isSameList(fragments, old.virtualHosts[index]?.fragments ?? []),
  )
  return isSame ? table : tableResource(table.name, { ...old, virtualHosts })
}

/** Tells the form of each object in a table from its other forms: host, content and order count. */
export const formsIn = (table: Resource): ReadonlyMap<Uid, Digest> => {
  const known = forms.get(table)
  if (known !== undefined) return known
  const made = new Map<Uid, Digest>()
  for (const [uid, fragments] of byOwner(table))
    made.set(
      uid,
      digestStrings(...fragments.flatMap(({ virtualHost, version }) => [virtualHost, version])),
    )
  forms.set(table, made)
  return made
}

const forms = new WeakMap<Resource, ReadonlyMap<Uid, Digest>>()

/**
 * The objects of which one table holds another form than the other, or holds none. Costs a look at each host, and at
 * each fragment of those hosts that are not the very same; O(fragments) where there is only one table.
 */
export const changedOwners = (
  a: Resource | undefined,
  b: Resource | undefined,
): ReadonlySet<Uid> => {
  if (a === undefined) return b === undefined ? new Set() : new Set(byOwner(b).keys())
  if (b === undefined) return new Set(byOwner(a).keys())
  if (a.version === b.version) return new Set()
  // What both hold, in the same place, makes no form another one.
  const changes = changedFragments(hostsOf(a), hostsOf(b))
  const before = groupedByOwner(changes.flatMap((change) => change.before ?? []))
  const after = groupedByOwner(changes.flatMap((change) => change.after ?? []))
  const owners = [...after.keys(), ...before.keys()]
  return new Set(owners.filter((uid) => !isSameForm(before.get(uid) ?? [], after.get(uid) ?? [])))
}

const changedFragments = (
  a: ReadonlyArray<TableHost>,
  b: ReadonlyArray<TableHost>,
): ReadonlyArray<SortedChange<Fragment>> =>
  sortedChanges(a, b, ({ name }) => name).flatMap(({ before, after }) =>
    sortedChanges(before?.fragments ?? [], after?.fragments ?? [], ({ sortKey }) => sortKey),
  )

/** The objects that send traffic to any of these clusters. */
export const ownersSendingTo = (
  table: Resource,
  clusters: ReadonlySet<string>,
): ReadonlySet<Uid> => {
  const owners = new Set<Uid>()
  for (const name of clusters) for (const uid of byCluster(table).get(name) ?? []) owners.add(uid)
  return owners
}

const byCluster = (table: Resource): ReadonlyMap<string, ReadonlySet<Uid>> => {
  const known = senders.get(table)
  if (known !== undefined) return known
  const made = new Map<string, Set<Uid>>()
  for (const { owner, clusters } of fragmentsOf(table.content))
    for (const name of clusters) {
      const others = made.get(name)
      if (others === undefined) made.set(name, new Set([owner]))
      else others.add(owner)
    }
  senders.set(table, made)
  return made
}

const senders = new WeakMap<Resource, ReadonlyMap<string, ReadonlySet<Uid>>>()

/** True if the object stands in the table in a form of its own: not only with its claims. */
export const standsIn = (table: Resource, uid: Uid): boolean =>
  byOwner(table)
    .get(uid)
    ?.some((fragment) => !isUnavailable(fragment)) ?? false

/** True if something of the object stands in the resource. Costs O(log n). */
export const ownsIn = ({ owners }: Resource, uid: Uid): boolean =>
  hasSorted(owners, (owner) => compareStrings(owner, uid))

const byOwner = (table: Resource): ReadonlyMap<Uid, ReadonlyArray<Fragment>> => {
  const known = owned.get(table)
  if (known !== undefined) return known
  const made = groupedByOwner(fragmentsOf(table.content))
  owned.set(table, made)
  return made
}

const groupedByOwner = (
  fragments: Iterable<Fragment>,
): ReadonlyMap<Uid, ReadonlyArray<Fragment>> => {
  const made = new Map<Uid, Array<Fragment>>()
  for (const fragment of fragments) {
    const others = made.get(fragment.owner)
    if (others === undefined) made.set(fragment.owner, [fragment])
    else others.push(fragment)
  }
  return made
}

const owned = new WeakMap<Resource, ReadonlyMap<Uid, ReadonlyArray<Fragment>>>()

function* fragmentsOf(content: Resource['content']): Generator<Fragment, void, undefined> {
  if (content._tag === 'Bytes') return
  for (const host of content.table.virtualHosts) yield* host.fragments
}

const hostsOf = (resource: Resource): ReadonlyArray<TableHost> =>
  tableOf(resource)?.virtualHosts ?? []

const tableOf = (resource: Resource | undefined): RouteTable | undefined =>
  resource?.content._tag === 'Table' ? resource.content.table : undefined

const substitute = (
  goal: RouteTable,
  base: RouteTable | undefined,
  overlay: Overlay,
): RouteTable => {
  const kept = mapFragments(goal, (fragment) => {
    const instead = overlay.get(fragment.owner)
    if (instead === undefined) return fragment
    return instead === 'Unavailable' ? unavailable(fragment) : undefined
  })
  const taken = new Set<string>()
  for (const host of kept) for (const each of host.fragments) taken.add(claimOf(each))
  const previous = mapFragments(base ?? { ...goal, virtualHosts: [] }, (fragment) =>
    overlay.get(fragment.owner) === 'Previous' && !taken.has(claimOf(fragment))
      ? fragment
      : undefined,
  )
  return { head: goal.head, virtualHosts: mergeHosts(kept, previous) }
}

const mapFragments = (
  table: RouteTable,
  change: (fragment: Fragment) => Fragment | undefined,
): ReadonlyArray<TableHost> =>
  table.virtualHosts.flatMap((host) => {
    const fragments = host.fragments.flatMap((each) => change(each) ?? [])
    return fragments.length === 0 ? [] : [changedHost(host, fragments)]
  })

const mergeHosts = (
  hosts: ReadonlyArray<TableHost>,
  added: ReadonlyArray<TableHost>,
): ReadonlyArray<TableHost> => {
  const byName = new Map(hosts.map((host) => [host.name, host]))
  for (const host of added) {
    const own = byName.get(host.name)
    const fragments = [...(own?.fragments ?? []), ...host.fragments]
    fragments.sort((a, b) => compareStrings(a.sortKey, b.sortKey))
    byName.set(host.name, changedHost(own ?? host, fragments))
  }
  return [...byName.values()].sort((a, b) => compareStrings(a.name, b.name))
}

const claimOf = ({ virtualHost, claim }: Fragment): string => `${claim} ${virtualHost}`

const identityOf = (fragment: Fragment): string => `${fragment.owner} ${claimOf(fragment)}`

const isSameForm = (a: ReadonlyArray<Fragment>, b: ReadonlyArray<Fragment>): boolean =>
  a.length === b.length &&
  a.every((fragment, index) => {
    const other = b[index]
    return (
      fragment === other ||
      (fragment.version === other?.version && fragment.virtualHost === other.virtualHost)
    )
  })

const isSameList = <A>(a: ReadonlyArray<A>, b: ReadonlyArray<A>): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])
