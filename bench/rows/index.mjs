import { burstRows } from './burst.mjs'
import { coldBuildRows } from './cold-build.mjs'
import { endpointRows } from './endpoint.mjs'
import { envoyChangeRows } from './envoy-change.mjs'
import { envoyRequestRows } from './envoy-requests.mjs'
import { fanOutRows } from './fan-out.mjs'
import { memoryRows } from './memory.mjs'
import { pathRows } from './path.mjs'

/** Every row, in the order of the table. Making them measures nothing. */
export const allRows = (size) =>
  [
    endpointRows,
    pathRows,
    coldBuildRows,
    memoryRows,
    fanOutRows,
    envoyChangeRows,
    envoyRequestRows,
    burstRows,
  ].flatMap((rows) => rows(size))
