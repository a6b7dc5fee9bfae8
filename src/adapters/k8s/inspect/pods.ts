import * as E from 'fp-ts/lib/Either.js'
import type { ApiClient } from '../api.js'
import { pathOf, pods, objectIn, textIn } from '../informers/index.js'
import { type InspectProblem, listObjects } from './list.js'

/** A Pod, as far as a person who looks for an Envoy cares. */
export interface SeenPod {
  readonly name: string
  readonly uid: string
  /** `Running`, say; `Terminating` in its place once it is being deleted. */
  readonly phase: string
}

/** All Pods of a namespace. Never rejects. */
export const inspectPods = async (
  client: ApiClient,
  namespace: string,
  signal: AbortSignal,
): Promise<E.Either<InspectProblem, ReadonlyArray<SeenPod>>> => {
  const listed = await listObjects(client, pathOf(pods, namespace), {}, signal)
  return E.Functor.map(listed, (objects) =>
    objects.map((object) => {
      const metadata = objectIn(object, 'metadata')
      const isEnding = textIn(metadata, 'deletionTimestamp') !== undefined
      const phase = textIn(objectIn(object, 'status'), 'phase') ?? 'Unknown'
      return {
        name: textIn(metadata, 'name') ?? '',
        uid: textIn(metadata, 'uid') ?? '',
        phase: isEnding ? 'Terminating' : phase,
      }
    }),
  )
}
