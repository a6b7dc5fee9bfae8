import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { SourceError } from '../../../ports/route-source.js'

/**
 * How many namespaces are followed each by itself, at most. Each costs four streams, one for each kind: EdgeRoutes,
 * Services, EndpointSlices, and the Pods of Envoys; a client has `maxStreams`, and what begins beyond these would wait
 * without end, and without a word.
 */
export const maxNamespaces = 64

/** Follows these, unless they are more; then says so. */
export const unlessTooMany = (
  namespaces: ReadonlyArray<string> | undefined,
  follow: TaskEither<SourceError, void>,
): TaskEither<SourceError, void> => {
  const count = new Set(namespaces ?? []).size
  if (count <= maxNamespaces) return follow
  const message =
    `${count} namespaces cannot be followed each by itself, but ${maxNamespaces} at most: ` +
    'name fewer, or none to follow the whole cluster'
  return TE.left({ _tag: 'Unavailable', message, cause: undefined })
}
