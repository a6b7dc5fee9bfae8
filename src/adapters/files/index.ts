import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import type { RouteSource, SourceError, SourceState } from '../../ports/route-source.js'
import { eventOf, follow, unavailable } from './follow.js'
import { scan } from './scan.js'
import { initial, step } from './state.js'

export { maxDepth, maxDirectories, maxFiles } from './list.js'
export { maxFileBytes } from './read-file.js'
export { lockRoster, type RosterLock } from './roster-lock.js'
export { filesRosterStore, type FilesRosterOptions } from './roster-store.js'
export { readYamlText, type YamlText } from './yaml-document.js'
export type { Clock, RouteSource, SourceError, SourceState }
export type { SourceProblem } from '../../ports/route-source.js'

export interface FilesOptions {
  /** Where the files are. It need not stay there, but must be there when watching begins. */
  readonly directory: string
  /** The clock of the machine if absent. */
  readonly clock?: Clock
}

/**
 * A directory of YAML files with EdgeRoutes as a source of routes, and of what they send to: Services
 * (v1) and EndpointSlices (discovery.k8s.io/v1), as Kubernetes has them.
 *
 * All of `*.yaml` and `*.yml` counts, also in directories below, except for names that begin with a
 * dot; a file may hold many documents. A change is seen within a tenth of a second where the system
 * tells of it, and otherwise after a second.
 *
 * Guarantees: an object is removed only when it is known to be gone, by two scans with a quiet 250
 * ms between them, in which nothing at all changes in the directory. What is missing as a whole,
 * unreadable, emptied, half written or invalid keeps the last good form of its objects and is named
 * in `problems`. Of two objects of one kind and name, the first path in order serves. A route that has not
 * changed stays the same object. `uid` is `file:namespace/name`; there is no age; the generation
 * counts the changes of the spec while the object is there. `backends` is absent as long as no Service and no
 * EndpointSlice was ever in the directory: then those of the host's context count.
 *
 * Cost: one `stat` for each file and scan. Changed files are parsed in slices of some 10 ms,
 * between which the event loop goes on.
 *
 * Errors: a left if the directory cannot be read when watching begins, and never later; or if
 * `onState` throws.
 */
export const filesRouteSource = ({
  directory,
  clock = systemClock,
}: FilesOptions): RouteSource => ({
  watch: (onState, signal) => () => follow(directory, clock, onState, signal),
})

/**
 * Reads a directory once, as `filesRouteSource` would at its start.
 *
 * A left if the directory cannot be read; what is wrong inside of it is in `problems`.
 */
export const readRoutesOnce =
  (directory: string): TaskEither<SourceError, SourceState> =>
  async () => {
    const seen = await scan(directory, new Map(), () => false)
    const [, effects] = step(initial, eventOf(seen, 0, 0))
    for (const effect of effects) {
      if (effect._tag === 'Publish') return E.right(effect.state)
      if (effect._tag === 'GiveUp') return E.left(unavailable(effect.message, undefined))
    }
    return E.right({ routes: [], problems: [] })
  }
