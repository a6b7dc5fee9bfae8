import type { Context } from '../context.js'
import { type EdgeRoute, showKey } from '../edge-route.js'
import type { Uid } from '../resource.js'
import { type Compiled, compiledRoute, countingOne, placed, uidOf } from '../translate/objects.js'
import { changeByKey, changedList, type ListChange, strayIn } from './list-change.js'

/** Which object counts under each uid. */
export interface ObjectIndex {
  /** Takes in what has changed; gives the uids that another object counts under, or none any more. */
  readonly update: (routes: ListChange<EdgeRoute>) => ReadonlyMap<Uid, Compiled | undefined>
  readonly get: (uid: Uid) => Compiled | undefined
  /** What of these was never added, or was removed before: the first of them, by name. */
  readonly stray: (removed: ReadonlyArray<EdgeRoute>) => string | undefined
}

/** Begins with no objects. A change costs what it brings. */
export const objectIndex = (dataPlanes: Context['dataPlanes']): ObjectIndex => {
  const given = new Map<Uid, ReadonlyArray<EdgeRoute>>()
  const counting = new Map<Uid, Compiled>()
  return {
    get: (uid) => counting.get(uid),
    stray: (removed) => {
      for (const [uid, change] of changeByKey({ removed, added: [] }, uidOf)) {
        const stray = strayIn(given.get(uid) ?? [], change.removed)
        if (stray !== undefined) return `the route ${showKey(compiledRoute(stray[0]).key)}`
      }
      return undefined
    },
    update: (routes) => {
      const changed = new Map<Uid, Compiled | undefined>()
      for (const [uid, change] of changeByKey(routes, uidOf)) {
        const now = changedList(given.get(uid) ?? [], change)
        const [first, ...others] = now.map(compiledRoute)
        if (first === undefined) {
          given.delete(uid)
          counting.delete(uid)
          changed.set(uid, undefined)
        } else {
          const object = placed(others.reduce(countingOne, first), dataPlanes)
          given.set(uid, now)
          counting.set(uid, object)
          changed.set(uid, object)
        }
      }
      return changed
    },
  }
}
