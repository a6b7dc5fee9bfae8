import { showKey } from '../../../core/edge-route.js'
import { entries, get, type PersistentMap, remove, set } from '../../../core/persistent-map.js'
import { compareResourceVersions } from './resource-version.js'

/** What a reflector needs to know of an object. */
export interface Reflected {
  readonly metadata: {
    readonly namespace: string
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
  }
}

/** What is known of a server by listing and watching. */
export interface Reflector<A extends Reflected> {
  /** The same map as long as nothing is known to have changed. */
  readonly objects: PersistentMap<Held<A>>
  /** The last moment of the server that was seen; `undefined` before the first list. */
  readonly resourceVersion: string | undefined
  readonly phase: Phase
  /** How often in a row something went wrong, without any news in between. */
  readonly troubles: number
}

export interface Held<A> {
  /** `namespace/name`. */
  readonly name: string
  readonly object: A
}

export type Phase =
  | { readonly _tag: 'Listing' }
  | { readonly _tag: 'Watching' }
  /** Waits before it lists, or watches, again. */
  | { readonly _tag: 'Pausing'; readonly then: 'List' | 'Watch' }

export type ReflectorEvent<A extends Reflected> =
  | { readonly _tag: 'Listed'; readonly resourceVersion: string; readonly items: Iterable<A> }
  | { readonly _tag: 'ListFailed' }
  /** An object was added or modified. */
  | { readonly _tag: 'Applied'; readonly object: A }
  /** An object is gone; its resource version is that of the deletion. */
  | { readonly _tag: 'Deleted'; readonly object: A }
  | { readonly _tag: 'Bookmarked'; readonly resourceVersion: string }
  /** The watch has ended, or could not begin. */
  | { readonly _tag: 'Closed' }
  /** The server does not remember that far back: 410, in whatever form. */
  | { readonly _tag: 'Gone' }
  | { readonly _tag: 'PauseOver' }
  | { readonly _tag: 'RelistDue' }

export type ReflectorEffect =
  | { readonly _tag: 'List' }
  | { readonly _tag: 'Watch'; readonly resourceVersion: string }
  | { readonly _tag: 'StopWatch' }
  /** In milliseconds. It is over at once when another effect comes before its end. */
  | { readonly _tag: 'Pause'; readonly ms: number }

export type ReflectorStep<A extends Reflected> = readonly [
  state: Reflector<A>,
  effects: ReadonlyArray<ReflectorEffect>,
]

/** How long the second failure in a row is waited out, in milliseconds; the next ones twice as long each. */
export const firstPauseMs = 800
/** The longest wait between two attempts, in milliseconds. */
export const maxPauseMs = 30_000
/**
 * After how many troubles in a row the server is asked for a list in place of a watch: one that does not
 * remember a resource version may end each watch from it without saying so.
 */
export const maxTroubledWatches = 3

/** Nothing is known yet. The first effect is `List`. */
export const beginReflecting = <A extends Reflected>(): ReflectorStep<A> => [
  {
    objects: undefined,
    resourceVersion: undefined,
    phase: { _tag: 'Listing' },
    troubles: 0,
  },
  [{ _tag: 'List' }],
]

/**
 * Follows a server: lists, watches from there, and begins again where something goes wrong.
 *
 * | phase    | event                                   | next                          | effects         |
 * | -------- | --------------------------------------- | ----------------------------- | --------------- |
 * | Listing  | Listed                                  | Watching, with what is listed | Watch           |
 * | Listing  | Listed, of an older moment than seen    | Pausing, then List            | Pause           |
 * | Listing  | ListFailed                              | Pausing, then List            | Pause           |
 * | Watching | Applied, Deleted, Bookmarked            | Watching, with it             |                 |
 * | Watching | …, of a moment that was seen            | the same                      |                 |
 * | Watching | Closed                                  | Pausing, then Watch           | Pause           |
 * | Watching | Closed, for the `maxTroubledWatches`th time | Pausing, then List            | Pause           |
 * | Watching | Gone                                    | Pausing, then List            | Pause           |
 * | Watching | RelistDue                               | Listing                       | StopWatch, List |
 * | Pausing  | PauseOver                               | Listing or Watching           | List or Watch   |
 * | Pausing  | RelistDue                               | Listing                       | List            |
 *
 * Every other pair changes nothing. Time never goes back: what is of an older resource version than one that
 * was seen is not taken. An object that was deleted and made again in a gap is there under its new uid. The
 * first trouble after any news costs no wait.
 */
export const step = <A extends Reflected>(
  state: Reflector<A>,
  event: ReflectorEvent<A>,
): ReflectorStep<A> => {
  switch (state.phase._tag) {
    case 'Listing':
      if (event._tag === 'Listed') return listed(state, event.resourceVersion, event.items)
      return event._tag === 'ListFailed' ? pause(state, 'List') : [state, []]
    case 'Watching':
      return whileWatching(state, event)
    case 'Pausing':
      if (event._tag === 'RelistDue') return list(state)
      return event._tag === 'PauseOver' ? resume(state, state.phase.then) : [state, []]
  }
}

const listed = <A extends Reflected>(
  state: Reflector<A>,
  resourceVersion: string,
  items: Iterable<A>,
): ReflectorStep<A> => {
  if (isOld(state, resourceVersion)) return pause(state, 'List')
  const objects = sharing(state.objects, items)
  return watch({ ...state, objects, resourceVersion }, resourceVersion)
}

/** What is listed; in the form that is known where that is the same. */
const sharing = <A extends Reflected>(
  known: PersistentMap<Held<A>>,
  items: Iterable<A>,
): PersistentMap<Held<A>> => {
  const listed = new Map([...items].map((item) => [nameOf(item), item]))
  let objects = known
  for (const { name } of entries(known)) if (!listed.has(name)) objects = remove(objects, name)
  for (const [name, object] of listed) {
    const before = get(known, name)?.object
    if (before === undefined || !isSameForm(before, object))
      objects = set(objects, { name, object })
  }
  return objects
}

const whileWatching = <A extends Reflected>(
  state: Reflector<A>,
  event: ReflectorEvent<A>,
): ReflectorStep<A> => {
  switch (event._tag) {
    case 'Applied': {
      const held = { name: nameOf(event.object), object: event.object }
      return advance(state, event.object, set(state.objects, held))
    }
    case 'Deleted':
      return advance(state, event.object, remove(state.objects, nameOf(event.object)))
    case 'Bookmarked':
      return [{ ...state, resourceVersion: later(state, event.resourceVersion), troubles: 0 }, []]
    case 'Closed':
      return pause(state, state.troubles + 1 < maxTroubledWatches ? 'Watch' : 'List')
    case 'Gone':
      return pause(state, 'List')
    case 'RelistDue': {
      const [next, effects] = list(state)
      return [next, [{ _tag: 'StopWatch' }, ...effects]]
    }
    case 'Listed':
    case 'ListFailed':
    case 'PauseOver':
      return [state, []]
  }
}

/** Takes in what the watch says of an object, unless that moment was seen before. */
const advance = <A extends Reflected>(
  state: Reflector<A>,
  { metadata: { resourceVersion } }: A,
  objects: PersistentMap<Held<A>>,
): ReflectorStep<A> =>
  isOld(state, resourceVersion) || resourceVersion === state.resourceVersion
    ? [state, []]
    : [{ ...state, objects, resourceVersion, troubles: 0 }, []]

const isOld = <A extends Reflected>(state: Reflector<A>, resourceVersion: string): boolean =>
  state.resourceVersion !== undefined &&
  compareResourceVersions(resourceVersion, state.resourceVersion) < 0

const later = <A extends Reflected>(state: Reflector<A>, resourceVersion: string): string =>
  isOld(state, resourceVersion) ? (state.resourceVersion ?? resourceVersion) : resourceVersion

/** The first trouble after any news is not waited out. */
const pause = <A extends Reflected>(
  before: Reflector<A>,
  then: 'List' | 'Watch',
): ReflectorStep<A> => {
  const state = { ...before, troubles: before.troubles + 1 }
  if (state.troubles === 1) return resume(state, then)
  const ms = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(state.troubles - 2, 30))
  return [{ ...state, phase: { _tag: 'Pausing', then } }, [{ _tag: 'Pause', ms }]]
}

const resume = <A extends Reflected>(
  state: Reflector<A>,
  then: 'List' | 'Watch',
): ReflectorStep<A> =>
  then === 'List' || state.resourceVersion === undefined
    ? list(state)
    : watch(state, state.resourceVersion)

const list = <A extends Reflected>(state: Reflector<A>): ReflectorStep<A> => [
  { ...state, phase: { _tag: 'Listing' } },
  [{ _tag: 'List' }],
]

const watch = <A extends Reflected>(
  state: Reflector<A>,
  resourceVersion: string,
): ReflectorStep<A> => [
  { ...state, phase: { _tag: 'Watching' } },
  [{ _tag: 'Watch', resourceVersion }],
]

const isSameForm = ({ metadata: a }: Reflected, { metadata: b }: Reflected): boolean =>
  a.uid === b.uid && a.resourceVersion === b.resourceVersion

const nameOf = ({ metadata }: Reflected): string => showKey(metadata)
