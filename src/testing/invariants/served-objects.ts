import { type EnvoyState, servedTables } from '../../adapters/memory/index.js'
import { memoize } from '../../adapters/memory/envoy/memo.js'
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
  const planes = new Map<string, Plane>()
  return {
    note: ({ dataPlanes }) => {
      for (const name of new Set([...planes.keys(), ...dataPlanes.keys()])) {
        const known = planes.get(name) ?? { ever: emptyOwners(), live: emptyOwners() }
        const live = emptyOwners()
        for (const form of formsIn(dataPlanes.get(name))) {
          put(live, form)
          put(known.ever, form)
        }
        planes.set(name, { ever: known.ever, live })
      }
    },
    at: (envoy) => {
      const plane = planes.get(dataPlaneOf(envoy.options.node))
      if (plane === undefined) return []
      const keys = servedTables(envoy).flatMap(({ table }) => keysIn(table))
      return [...new Set(keys.flatMap((key) => [...ownersOf(plane, key)]))].sort(compareStrings)
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

interface Plane {
  readonly ever: Owners
  /** Those of the latest snapshot. */
  readonly live: Owners
}

/** Owners by what stands in a virtual host: whole routes, and their matches alone. */
interface Owners {
  readonly wholes: Map<string, Set<Uid>>
  readonly matches: Map<string, Set<Uid>>
}

interface Key {
  readonly whole: string
  readonly match: string
}

interface Form extends Key {
  readonly owner: Uid
}

const emptyOwners = (): Owners => ({ wholes: new Map(), matches: new Map() })

const put = ({ wholes, matches }: Owners, { whole, match, owner }: Form): void => {
  for (const [index, key] of [
    [wholes, whole],
    [matches, match],
  ] as const) {
    const owners = index.get(key)
    if (owners === undefined) index.set(key, new Set([owner]))
    else owners.add(owner)
  }
}

const ownersOf = ({ live, ever }: Plane, { whole, match }: Key): ReadonlySet<Uid> =>
  live.wholes.get(whole) ??
  ever.wholes.get(whole) ??
  live.matches.get(match) ??
  ever.matches.get(match) ??
  new Set()

const formsIn = (view: View | undefined): ReadonlyArray<Form> =>
  view === undefined ? [] : [...PM.entries(view[routeType])].flatMap(formsOf)

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
  virtualHosts.flatMap(({ name = '', routes = [] }) => routes.map((route) => keyOf(name, route))),
)

/** Both sides are decoded and encoded anew, so that equal routes are equal texts. */
const keyOf = (host: string, route: Route): Key => ({
  whole: `${host} ${hex(Route.encode(route).finish())}`,
  match: `${host} ${hex(Route.encode(route.match === undefined ? {} : { match: route.match }).finish())}`,
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
