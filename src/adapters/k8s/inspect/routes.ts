import * as E from 'fp-ts/lib/Either.js'
import type { RouteKey } from '../../../core/edge-route.js'
import type { StoredObject } from '../../../core/stored-object.js'
import type { ApiClient } from '../api.js'
import { edgeRoutes, pathOf } from '../informers/index.js'
import { storedOf } from '../informers/stored.js'
import { type InspectProblem, listObjects, ofName } from './list.js'

/** The bookkeeping of the EdgeRoute of this name, as it is now; `undefined` if there is none. Never rejects. */
export const inspectRoute = async (
  client: ApiClient,
  { namespace, name }: RouteKey,
  signal: AbortSignal,
): Promise<E.Either<InspectProblem, StoredObject | undefined>> => {
  const listed = await listObjects(client, pathOf(edgeRoutes, namespace), ofName(name), signal)
  return E.Functor.map(listed, (objects) =>
    objects.map(storedOf).find(({ key }) => key.name === name),
  )
}

/** The bookkeeping of all EdgeRoutes that are being deleted. Costs O(EdgeRoutes). Never rejects. */
export const inspectTerminating = async (
  client: ApiClient,
  signal: AbortSignal,
): Promise<E.Either<InspectProblem, ReadonlyArray<StoredObject>>> => {
  const listed = await listObjects(client, pathOf(edgeRoutes, undefined), {}, signal)
  return E.Functor.map(listed, (objects) =>
    objects.map(storedOf).filter(({ deletionTimestamp }) => deletionTimestamp !== undefined),
  )
}
