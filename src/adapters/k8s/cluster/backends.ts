import type * as E from 'fp-ts/lib/Either.js'
import type { EndpointSlice, Service } from '../../../core/context.js'
import { compareStrings } from '../../../core/order.js'
import type { SourceError } from '../../../ports/route-source.js'
import type { ApiClient } from '../api.js'
import {
  type Change,
  endpointSlices,
  type FollowOptions,
  type InformerTrouble,
  type Kind,
  type Project,
  type RunningInformer,
  type Selecting,
  services,
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
  { onNews, onTroubles, onEnd }: BackendsHandlers,
  signal: AbortSignal,
): RunningBackends => {
  let seen = noBackends
  const troubles = new Map<string, ReadonlyArray<InformerTrouble>>()
  const follow = <A>(
    kind: Kind,
    namespace: string | undefined,
    project: Project<SeenBackend<A>>,
  ): RunningInformer<SeenBackend<A>> => {
    const namespaces = namespace === undefined ? undefined : [namespace]
    const informer = startInformer<SeenBackend<A>>(
      { ...options, client, kind, namespaces, project, groups },
      {
        onChanges: (changes) => onNews(changes.some(isVisible)),
        onTroubles: (now) => {
          troubles.set(`${namespace ?? ''}/${kind.plural}`, now)
          onTroubles([...troubles.values()].flat())
        },
      },
      signal,
    )
    void informer.finished.then(onEnd)
    return informer
  }
  const names = options.namespaces && [...new Set(options.namespaces)]
  const namespaces = names?.sort((a, b) => compareStrings(`${a}/`, `${b}/`)) ?? [undefined]
  const places = new Map<string, Place>(
    namespaces.map((namespace) => [
      namespace ?? everywhere,
      {
        services: follow(services, namespace, seeService),
        slices: follow(endpointSlices, namespace, seeEndpointSlice),
      },
    ]),
  )
  const all = [...places.values()]
  const keyOf = (service: string): string =>
    names === undefined ? everywhere : service.slice(0, service.indexOf('/'))
  return {
    select: ({ add, remove }) => {
      const [more, less] = [[...add], [...remove]]
      for (const { services, slices } of all) {
        services.select({ add: more, remove: less })
        slices.select({ add: more, remove: less })
      }
    },
    isKnown: (service) => {
      const place = places.get(keyOf(service))
      return place !== undefined && place.services.isKnown(service) && place.slices.isKnown(service)
    },
    placeOf: (service) =>
      names === undefined ? services.plural : `${services.plural} in namespace ${keyOf(service)}`,
    troubles: () => [...troubles.values()].flat(),
    view: (isNamed) => {
      const isShown = ({ group = '' }: { readonly group: string | undefined }): boolean =>
        isNamed(group)
      const shownServices = all.flatMap(({ services }) => [...services.objects()].filter(isShown))
      const shownSlices = all.flatMap(({ slices }) => [...slices.objects()].filter(isShown))
      seen = viewOf(seen, shownServices, shownSlices)
      return seen
    },
  }
}

/** No namespace has this name. */
const everywhere = ''

const isVisible = (change: Change<unknown>): boolean =>
  change._tag !== 'Modified' || change.before.value !== change.object.value
