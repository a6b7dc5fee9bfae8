import * as PM from '../../src/core/persistent-map.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import { routeType } from '../../src/core/type-url.js'

/** The uids of the objects that stand in the route tables of a snapshot, in order. */
export const uidsIn = ({ dataPlanes }: Snapshot): ReadonlyArray<string> =>
  [
    ...new Set(
      [...dataPlanes.values()].flatMap((view) =>
        [...PM.entries(view[routeType])].flatMap(({ owners }) => owners),
      ),
    ),
  ].sort()
