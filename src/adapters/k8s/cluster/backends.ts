import type * as E from 'fp-ts/lib/Either.js'
import type { EndpointSlice, Service } from '../../../core/context.js'
import type { SourceError } from '../../../ports/route-source.js'
import type { ApiClient } from '../api.js'
import {
  type Change,
  endpointSlices,
  type FollowOptions,
  inNameOrder,
  type InformerOptions,
  type InformerTrouble,
  type Kind,
  type Project,
  type Reflected,
  type RunningInformer,
  type Selecting,
  services,
  showPlace,
  startInformer,
} from '../informers/index.js'
import {
  type BackendsView,
  noBackends,
  type SeenBackend,
  seeEndpointSlice,
  seeService,
  viewOf,
} from './backend-view.js'

export interface BackendsHandlers {
  /** Something has become known, or has changed; that may be seen, or not. */
  readonly onNews: (isVisible: boolean) => void
  /** Is told of all that is wrong at the moment. */
  readonly onTroubles: (troubles: ReadonlyArray<InformerTrouble>) => void
  /** An informer has ended by a bug. */
  readonly onEnd: (result: E.Either<SourceError, void>) => void
}

/** The Services that are selected, with their slices. */
export interface RunningBackends {
  readonly select: (selecting: Selecting) => void
  /** Whether a Service that is selected, and all of its slices, are known. */
  readonly isKnown: (service: string) => boolean
  /** Which informers tell of a Service, in words. */
  readonly placeOf: (service: string) => string
  readonly troubles: () => ReadonlyArray<InformerTrouble>
  /** Of the Services for which this is true. */
  readonly view: (isNamed: (service: string) => boolean) => BackendsView
}

/** Before they are started: nothing is known. */
export const noRunningBackends: RunningBackends = {
  select: () => undefined,
  isKnown: () => false,
  placeOf: () => '',
  troubles: () => [],
  view: () => noBackends,
}

interface Place {
  readonly services: RunningInformer<SeenBackend<Service>>
  readonly slices: RunningInformer<SeenBackend<EndpointSlice>>
}

/**
 * Follows Services and EndpointSlices: in each namespace by itself, where not all are watched, so that what happens in
 * one is told though another one cannot be read.
 */
export const startBackends = (
  client: ApiClient,
  options: FollowOptions,
  groups: ReadonlyArray<string>,
  handlers: BackendsHandlers,
  signal: AbortSignal,
): RunningBackends => {
  const { follow, troubles } = informersOf({ ...options, client, groups }, handlers, signal)
  const { all, placeFor, namespaceOf } = placesOf(options.namespaces, (namespace) => ({
    services: follow(services, namespace, seeService),
    slices: follow(endpointSlices, namespace, seeEndpointSlice),
  }))
  let seen = noBackends
  return {
    select: ({ add, remove }) => {
      const [more, less] = [[...add], [...remove]]
      for (const { services, slices } of all) {
        services.select({ add: more, remove: less })
        slices.select({ add: more, remove: less })
      }
    },
    isKnown: (service) => {
      const place = placeFor(service)
      return place !== undefined && place.services.isKnown(service) && place.slices.isKnown(service)
    },
    placeOf: (service) => showPlace(services, namespaceOf(service)),
    troubles,
    view: (isNamed) => {
      const shownServices = all.flatMap(({ services }) => shownBy(services, isNamed))
      const shownSlices = all.flatMap(({ slices }) => shownBy(slices, isNamed))
      seen = viewOf(seen, shownServices, shownSlices)
      return seen
    },
  }
}

interface Informers extends Pick<RunningBackends, 'troubles'> {
  readonly follow: <A>(
    kind: Kind,
    namespace: string | undefined,
    project: Project<SeenBackend<A>>,
  ) => RunningInformer<SeenBackend<A>>
}

/** Starts informers, and puts together what is wrong with each of them. */
const informersOf = (
  options: Pick<InformerOptions<never>, 'client' | 'groups'> & FollowOptions,
  { onNews, onTroubles, onEnd }: BackendsHandlers,
  signal: AbortSignal,
): Informers => {
  const troubles = new Map<string, ReadonlyArray<InformerTrouble>>()
  const all = (): ReadonlyArray<InformerTrouble> => [...troubles.values()].flat()
  return {
    troubles: all,
    follow: (kind, namespace, project) => {
      const namespaces = namespace === undefined ? undefined : [namespace]
      const informer = startInformer(
        { ...options, kind, namespaces, project },
        {
          onChanges: (changes) => onNews(changes.some(isVisible)),
          onTroubles: (now) => {
            troubles.set(`${namespace ?? ''}/${kind.plural}`, now)
            onTroubles(all())
          },
        },
        signal,
      )
      void informer.finished.then(onEnd)
      return informer
    },
  }
}

/** What is watched by itself. */
interface Places {
  readonly all: ReadonlyArray<Place>
  /** Where a Service is watched; `undefined` if it is not. */
  readonly placeFor: (service: string) => Place | undefined
  /** The namespace that is watched for a Service; `undefined` where all are watched together. */
  readonly namespaceOf: (service: string) => string | undefined
}

/** Makes a place for each of these namespaces, in their order, or one for all of them. */
const placesOf = (
  wanted: FollowOptions['namespaces'],
  placeIn: (namespace: string | undefined) => Place,
): Places => {
  const namespaces = wanted === undefined ? [undefined] : inNameOrder(wanted)
  const places = new Map(namespaces.map((namespace) => [namespace, placeIn(namespace)]))
  const namespaceOf = (service: string): string | undefined =>
    wanted === undefined ? undefined : service.slice(0, service.indexOf('/'))
  return {
    all: [...places.values()],
    placeFor: (service) => places.get(namespaceOf(service)),
    namespaceOf,
  }
}

const shownBy = <A>(
  informer: RunningInformer<SeenBackend<A>>,
  isNamed: (service: string) => boolean,
): ReadonlyArray<Reflected<SeenBackend<A>>> =>
  [...informer.objects()].filter(({ group = '' }) => isNamed(group))

const isVisible = (change: Change<unknown>): boolean =>
  change._tag !== 'Modified' || change.before.value !== change.object.value
