import { type EnvoyState, servedTables } from '../../adapters/memory/index.js'
import { memoize } from '../../adapters/memory/envoy/memo.js'
import { routesOf } from '../../adapters/memory/envoy/routing/host-routes.js'
import { compareStrings } from '../../core/order.js'
import * as PM from '../../core/persistent-map.js'
import type { Fragment, Resource, Uid } from '../../core/resource.js'
import type { Snapshot, View } from '../../core/snapshot.js'
import { routeType } from '../../core/type-url.js'
import { dataPlaneOf } from '../../core/xds/session.js'
import type { RouteConfiguration } from '../../gen/envoy/config/route/v3/route.js'
import { Route } from '../../gen/envoy/config/route/v3/route_components.js'
import type { Violation } from './violation.js'

/** Knows whose a route is that an Envoy has: which object it was made of. */
export interface ServedObjects {
  /** To be told of every snapshot that Envoys may get, in order, before they get it. */
  readonly note: (snapshot: Snapshot) => void
  /**
   * The uids of the objects of which something stands in a table that requests may meet at this Envoy, on new
   * connections or kept ones, sorted. What was deleted and made again under its name, and is in the same form, is
   * the new object at once: nobody can tell the difference.
   */
  readonly at: (envoy: EnvoyState) => ReadonlyArray<Uid>
}

/**
 * Begins to remember whose routes are whose. Envoys are not told; what they hold is compared with what was
 * published, byte for byte, so that the answer does not rest on any ledger.
 *
 * A route that was published for no object in this form, as one that answers 503 in the place of another, is
 * that of whoever has claimed the same requests.
 */
export const servedObjects = (): ServedObjects => {
  const planes = new Map<string, Owners>()
  return {
    note: ({ dataPlanes }) => {
      for (const [name, view] of dataPlanes) {
        const known = planes.get(name) ?? emptyOwners()
        keep(known, ownersIn(view))
        planes.set(name, known)
      }
    },
    at: (envoy) => {
      const owners = planes.get(dataPlaneOf(envoy.options.node))
      if (owners === undefined) return []
      const keys = servedTables(envoy).flatMap(({ table }) => keysIn(table))
      return [...new Set(keys.flatMap((key) => [...ownersOf(owners, key)]))].sort(compareStrings)
    },
  }
}

/** The Envoys at which something of an object still stands, as violations. */
export const stillServed = (
  uid: Uid,
  envoys: Iterable<EnvoyState>,
  objects: ServedObjects,
): ReadonlyArray<Violation> =>
  [...envoys]
    .filter((envoy) => objects.at(envoy).includes(uid))
    .map(({ options }) => ({
      law: 'NotServed',
      message: `${options.node.id} may still serve ${uid}`,
    }))

/**
 * Owners by what stands in a virtual host: whole routes, and their matches alone. They are those of the latest
 * snapshot in which it stood: who owned the same form before has been replaced by them.
 */
interface Owners {
  readonly wholes: Map<string, ReadonlySet<Uid>>
  readonly matches: Map<string, ReadonlySet<Uid>>
}

interface Key {
  readonly whole: string
  readonly match: string
}

interface Form extends Key {
  readonly owner: Uid
}

const emptyOwners = (): Owners => ({ wholes: new Map(), matches: new Map() })

const keep = (known: Owners, latest: Owners): void => {
  for (const [key, owners] of latest.wholes) known.wholes.set(key, owners)
  for (const [key, owners] of latest.matches) known.matches.set(key, owners)
}

const ownersOf = ({ wholes, matches }: Owners, { whole, match }: Key): ReadonlySet<Uid> =>
  wholes.get(whole) ?? matches.get(match) ?? new Set()

const ownersIn = (view: View): Owners => {
  const forms = [...PM.entries(view[routeType])].flatMap(formsOf)
  return {
    wholes: grouped(forms, ({ whole }) => whole),
    matches: grouped(forms, ({ match }) => match),
  }
}

const grouped = (
  forms: ReadonlyArray<Form>,
  keyOf: (form: Form) => string,
): Map<string, ReadonlySet<Uid>> => {
  const owners = new Map<string, Set<Uid>>()
  for (const form of forms) {
    const key = keyOf(form)
    const before = owners.get(key)
    if (before === undefined) owners.set(key, new Set([form.owner]))
    else before.add(form.owner)
  }
  return owners
}

/** A resource stays the same reference as long as nothing changes in it. */
const formsOf = memoize(({ content }: Resource): ReadonlyArray<Form> =>
  content._tag === 'Bytes'
    ? []
    : content.table.virtualHosts.flatMap(({ name, fragments }) =>
        fragments.map((fragment) => ({ ...keyOf(name, read(fragment)), owner: fragment.owner })),
      ),
)

const read = memoize(({ match, rest }: Fragment): Route =>
  Route.decode(Buffer.concat([match, rest])),
)

/** Tables of the same bytes are the same object. */
const keysIn = memoize(({ virtualHosts = [] }: RouteConfiguration): ReadonlyArray<Key> =>
  virtualHosts.flatMap((host) => routesOf(host).map((route) => keyOf(host.name ?? '', route))),
)

/** Both sides are decoded and encoded anew, so that equal routes are equal texts. */
const keyOf = (host: string, route: Route): Key => ({
  whole: `${host} ${hex(Route.encode(route).finish())}`,
  match: `${host} ${hex(Route.encode(route.match === undefined ? {} : { match: route.match }).finish())}`,
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
