import * as PM from '../persistent-map.js'
import type { Resource } from '../resource.js'
import { type Resources, type View, viewOf } from '../snapshot.js'
import { scopeKey, shardNamed } from '../table-form.js'
import { scopeOf } from '../translate/scopes.js'
import { routeType, scopeType } from '../type-url.js'
import { eachName, type Names } from './names.js'
import { dataPlaneOf, type Session } from './session-state.js'

/**
 * The view with the scopes of the shards that the client asks for and that are none of its data plane: it goes on with
 * those of another number of shards, be it only to drain a listener. Without them that would answer 404 at once.
 *
 * It asks for these tables as long as it has their scopes, so that they end with time: see `drainMs`. The very same
 * view as a rule; what is made of a list of names is kept with it, as long as the scopes are the same.
 */
export const withForeignScopes = (session: Session, view: View): View => {
  const scopes = foreignScopes(session, view[scopeType])
  return scopes === undefined ? view : { ...view, [scopeType]: scopes }
}

/** True while there are such scopes, which will have to go. */
export const hasForeignScopes = (session: Session): boolean => {
  const { node, snapshot } = session
  if (node === undefined || snapshot === undefined) return false
  return foreignScopes(session, viewOf(snapshot, dataPlaneOf(node))[scopeType]) !== undefined
}

const foreignScopes = ({ watches, hasDrained }: Session, own: Resources): Resources => {
  const names = watches[routeType]?.subscription.names
  if (hasDrained || watches[scopeType] === undefined || names === undefined) return undefined
  const hit = known.get(names)
  if (hit !== undefined && hit.own === own) return hit.all
  const foreign = scopesNamed(names, own)
  const all = foreign.length === 0 ? undefined : foreign.reduce(PM.set<Resource>, own)
  known.set(names, { own, all })
  return all
}

const known = new WeakMap<
  NonNullable<Names>,
  { readonly own: Resources; readonly all: Resources }
>()

/** No more than there are names, whatever numbers a client may make up. */
const scopesNamed = (names: Names, own: Resources): ReadonlyArray<Resource> =>
  [...eachName(names)].flatMap((name) => {
    const place = shardNamed(name)
    if (place === undefined) return []
    const { shards, shard } = place
    return PM.get(own, scopeKey(shards, shard)) === undefined ? [scopeOf(shards, shard)] : []
  })
