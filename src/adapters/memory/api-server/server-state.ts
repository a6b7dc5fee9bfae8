import * as E from 'fp-ts/lib/Either.js'
import { type RouteKey, showKey } from '../../../core/edge-route.js'
import { entries, get, type PersistentMap, remove, set } from '../../../core/persistent-map.js'
import { type ApiError, badRequest, expired, notFound, refuse, timeout } from './api-error.js'
import type { ApiObject } from './api-object.js'
import { freeze } from './json.js'
import { parseResourceVersion } from './resource-version.js'

/** Everything that the server knows. */
export interface ServerState {
  /** The resource version of the last change. */
  readonly revision: number
  /** How many objects were ever created: their uids are numbered. */
  readonly created: number
  readonly objects: PersistentMap<Entry>
  /** The last changes, the oldest first: watches can begin among them. */
  readonly history: ReadonlyArray<Change>
  /** The revision of the last change that is not in the history any more. */
  readonly forgotten: number
}

interface Entry {
  /** `namespace/name`. */
  readonly name: string
  readonly object: ApiObject
}

/** A change of one object. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** As it is now; of one that was deleted, its last form, with the resource version of the deletion. */
  readonly object: ApiObject
  readonly before: ApiObject | undefined
}

/** What a list is answered with: the objects in the order of their names, and the moment that it shows. */
export interface ApiList {
  readonly resourceVersion: string
  readonly items: ReadonlyArray<ApiObject>
}

export const emptyServer = (revision: number): ServerState => ({
  revision,
  created: 0,
  objects: undefined,
  history: [],
  forgotten: revision,
})

export const findObject = ({ objects }: ServerState, key: RouteKey): ApiObject | undefined =>
  get(objects, showKey(key))?.object

export const getObject = (state: ServerState, key: RouteKey): E.Either<ApiError, ApiObject> =>
  E.fromNullable(notFound(key))(findObject(state, key))

/**
 * Everything that is there, as it was `behind` changes ago: a server that lags behind the others answers so.
 * It goes back no further than the history does.
 */
export const listObjects = (state: ServerState, behind = 0): ApiList => {
  const kept = state.history.slice(0, Math.max(0, state.history.length - behind))
  const undone = state.history.slice(kept.length).reverse()
  const objects = undone.reduce<PersistentMap<Entry>>(
    (later, { object, before }) =>
      before === undefined ? remove(later, nameOf(object)) : set(later, entryOf(before)),
    state.objects,
  )
  const revision = undone.length === 0 ? state.revision : (kept.at(-1)?.revision ?? state.forgotten)
  return freeze({
    resourceVersion: String(revision),
    items: [...entries(objects)].map(({ object }) => object),
  })
}

/**
 * What a watch from a resource version is told first: the changes since then. Without a version, or from
 * version 0, that everything that is there was added.
 */
export const changesSince = (
  state: ServerState,
  resourceVersion: string | undefined,
): E.Either<ApiError, ReadonlyArray<Change>> => {
  const from = parseResourceVersion(resourceVersion ?? '0')
  if (from === undefined)
    return refuse(badRequest(`Invalid value: "${String(resourceVersion)}": no resource version`))
  if (from === 0) return E.right(listObjects(state).items.map(addition))
  if (from > state.revision)
    return refuse(timeout(`Too large resource version: ${from}, current: ${state.revision}`))
  if (from < state.forgotten)
    return refuse(expired(`too old resource version: ${from} (${state.forgotten})`))
  return E.right(state.history.filter(({ revision }) => revision > from))
}

const addition = (object: ApiObject): Change => ({
  type: 'ADDED',
  revision: Number(object.metadata.resourceVersion),
  object,
  before: undefined,
})

/** What a change makes of a state, and the change. */
export type Committed = readonly [state: ServerState, change: Change]

/** Takes in a change under the next resource version. The history keeps `historyLimit` changes. */
export const commit = (
  state: ServerState,
  type: Change['type'],
  object: ApiObject,
  historyLimit: number,
): Committed => {
  const revision = state.revision + 1
  const metadata = { ...object.metadata, resourceVersion: String(revision) }
  const stored = freeze({ ...object, metadata })
  const before = findObject(state, metadata)
  const change = freeze({ type, revision, object: stored, before })
  const objects =
    type === 'DELETED'
      ? remove(state.objects, showKey(metadata))
      : set(state.objects, entryOf(stored))
  const created = state.created + (type === 'ADDED' ? 1 : 0)
  const history = [...state.history, change]
  return [shorten({ ...state, revision, created, objects, history }, historyLimit), change]
}

/** Forgets all but the last changes: a watch from before them is refused. */
export const shorten = (state: ServerState, historyLimit: number): ServerState => {
  const count = state.history.length - historyLimit
  if (count <= 0) return state
  const forgotten = state.history[count - 1]?.revision ?? state.forgotten
  return { ...state, history: state.history.slice(count), forgotten }
}

const nameOf = ({ metadata }: ApiObject): string => showKey(metadata)
const entryOf = (object: ApiObject): Entry => ({ name: nameOf(object), object })
