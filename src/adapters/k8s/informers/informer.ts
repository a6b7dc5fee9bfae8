import * as E from 'fp-ts/lib/Either.js'
import { entries } from '../../../core/persistent-map.js'
import { type Clock, systemClock } from '../../../ports/clock.js'
import type { SourceError } from '../../../ports/route-source.js'
import type { ApiClient } from '../api.js'
import {
  type Change,
  defaultPageSize,
  defaultRelistMs,
  isSettled,
  type Reflected,
  makeReflector,
  type Project,
  type ReflectorPorts,
  type RunningReflector,
  type Selecting,
  showTrouble,
} from '../reflector/index.js'
import { ending } from './ending.js'
import { inNameOrder, type Kind, pathOf, showPlace } from './kinds.js'
import { troubleTeller } from './tell-troubles.js'

export interface InformerOptions<A> extends FollowOptions {
  readonly client: ApiClient
  readonly kind: Kind
  /** Copies the few fields that count out of the JSON, which is dropped afterwards. */
  readonly project: Project<A>
  /** Only objects with such labels: the server leaves the others out. */
  readonly labelSelector?: string
  /**
   * The groups that are kept, where the kind has groups. Everything is kept if absent; otherwise the others can be
   * selected later.
   */
  readonly groups?: Iterable<string>
}

/** How objects are followed. */
export interface FollowOptions {
  /** The namespaces that are watched, each by itself; all at once if absent. */
  readonly namespaces?: ReadonlyArray<string> | undefined
  /** The clock of the machine if absent. */
  readonly clock?: Clock | undefined
  /** In [0, 1): the seed of all that is left to chance, such as when to try again. `Math.random` if absent. */
  readonly random?: (() => number) | undefined
  /** How often everything is listed again, in milliseconds; never if 0. Half an hour if absent. */
  readonly relistMs?: number | undefined
  /** How many objects a page of a list has; 500 if absent. */
  readonly pageSize?: number | undefined
  /** Whether to list by a watch from a server that can: true if absent. */
  readonly watchList?: boolean | undefined
}

export interface InformerHandlers<A> {
  /**
   * Is told of each change: first, when all namespaces were listed, that everything there is was added. Changes
   * that come to none tell that a group has become known.
   */
  readonly onChanges: (changes: ReadonlyArray<Change<A>>) => void
  /**
   * Is told each time what is wrong at the moment, also before everything was listed; of what stays wrong again after
   * a minute, then every ten.
   */
  readonly onTroubles: (troubles: ReadonlyArray<InformerTrouble>) => void
}

/** Something that keeps an informer from knowing what the server has; what it knew stays. */
export interface InformerTrouble {
  /** As in `edgeroutes in namespace shop`. */
  readonly where: string
  readonly message: string
}

/** An informer at work. */
export interface RunningInformer<A> {
  /** On the right once `signal` has aborted; on the left if a handler, or `project`, threw. Never rejects. */
  readonly finished: Promise<E.Either<SourceError, void>>
  /** Whether everything was listed once. */
  readonly isSynced: () => boolean
  /** What is known at the moment, in the order of the names. */
  readonly objects: () => Iterable<Reflected<A>>
  /**
   * Keeps some groups more, and others no longer: the objects of these leave as if they were deleted. Costs
   * O(what changes), and one list of that group alone.
   */
  readonly select: (selecting: Selecting) => void
  /**
   * Whether a group that is selected is known. Until then, that nothing of it is there means nothing: wait for it
   * before something is built on that.
   */
  readonly isKnown: (group: string) => boolean
}

/**
 * Follows the objects of one kind, in one namespace, several or all, and keeps in memory what `project` leaves of
 * those that are selected. (client-go: a shared informer with a transform.)
 *
 * Where the kind has groups, everything is watched and what is not selected is dropped as it is read, at the price
 * of reading it. A group that is selected later, and may have been passed over, is listed by itself: O(change), where
 * listing all Services again for each new one would cost O(Services), and a watch for each Service or namespace
 * would cost the API server a connection for each.
 *
 * Guarantees: see `step` of the reflector. Changes come in the order of the server for each namespace, and nothing
 * is told before all were listed. An object of a group that was just selected may, for the moment in which the watch
 * lags behind the list, go back to an older form of itself.
 */
export const startInformer = <A>(
  options: InformerOptions<A>,
  handlers: InformerHandlers<A>,
  signal: AbortSignal,
): RunningInformer<A> => {
  const { onEnd, end, finished } = ending(signal)
  const fail = (cause: unknown): void =>
    end(E.left({ _tag: 'Unavailable', message: `following ${options.kind.plural} failed`, cause }))
  const report = (changes: ReadonlyArray<Change<A>>): void => {
    tellTroubles()
    if (!parts.every(isListed)) return
    const isFirst = !isTold
    isTold = true
    handlers.onChanges(isFirst ? [...objectsOf(parts)].map(addition) : changes)
  }
  let isTold = false
  const parts = placesOf(options).map(({ where, namespace }): Part<A> => {
    const ports = portsOf(options, namespace)
    const reflector = makeReflector(ports, ({ changes }) => report(changes), fail, onEnd)
    return { namespace, where, reflector }
  })
  const { clock = systemClock } = options
  const troubles = (): ReadonlyArray<InformerTrouble> => parts.flatMap(troubleOf)
  const tellTroubles = troubleTeller({ ...handlers, clock, troubles, onBug: fail }, onEnd)
  if (!onEnd.aborted) parts.forEach(({ reflector }) => reflector.start())
  return {
    finished,
    isSynced: () => parts.every(isListed),
    objects: () => objectsOf(parts),
    select: ({ add, remove }) => {
      const [more, less] = [[...add], [...remove]]
      for (const part of parts) {
        const selecting = { add: more.filter(isIn(part)), remove: less.filter(isIn(part)) }
        if (selecting.add.length + selecting.remove.length > 0) part.reflector.select(selecting)
      }
    },
    isKnown: (group) =>
      parts.filter((part) => isIn(part)(group)).every((part) => isKnownIn(part, group)),
  }
}

/** What is watched by itself: a namespace, or all of them. */
interface Place {
  readonly namespace: string | undefined
  /** In words. */
  readonly where: string
}

interface Part<A> extends Place {
  readonly reflector: RunningReflector<A>
}

type Placing = Pick<InformerOptions<never>, 'kind' | 'namespaces'>

const placesOf = ({ kind, namespaces }: Placing): ReadonlyArray<Place> =>
  (namespaces === undefined ? [undefined] : inNameOrder(namespaces)).map((namespace) => ({
    namespace,
    where: showPlace(kind, namespace),
  }))

const portsOf = <A>(
  options: InformerOptions<A>,
  namespace: string | undefined,
): ReflectorPorts<A> => {
  const { client, kind, project, labelSelector, groups, random = Math.random } = options
  const { clock = systemClock, relistMs = defaultRelistMs } = options
  const { pageSize = defaultPageSize, watchList = true } = options
  return {
    client,
    clock,
    path: pathOf(kind, namespace),
    query: labelSelector === undefined ? {} : { labelSelector },
    project,
    grouping: groups === undefined ? undefined : kind.grouping,
    groups: groups && [...groups].filter(isIn({ namespace })),
    entropy: random() * 2 ** 32,
    relistMs,
    pageSize,
    watchList,
  }
}

/** Whether a group is in a place. */
const isIn =
  ({ namespace }: Pick<Place, 'namespace'>) =>
  (group: string): boolean =>
    namespace === undefined || group.startsWith(`${namespace}/`)

const isListed = ({ reflector }: Part<unknown>): boolean => reflector.state().isSynced

const isKnownIn = ({ reflector }: Part<unknown>, group: string): boolean => {
  const { isSynced, selection } = reflector.state()
  return isSynced && isSettled(selection, group)
}

const troubleOf = ({ where, reflector }: Part<unknown>): ReadonlyArray<InformerTrouble> => {
  const { trouble } = reflector.state()
  return trouble === undefined ? [] : [{ where, message: showTrouble(trouble, where) }]
}

function* objectsOf<A>(parts: ReadonlyArray<Part<A>>): Generator<Reflected<A>, void, undefined> {
  for (const { reflector } of parts) yield* entries(reflector.state().held.objects)
}

const addition = <A>(object: Reflected<A>): Change<A> => ({ _tag: 'Added', object })
