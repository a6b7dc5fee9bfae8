import type { WeightedCluster_ClusterWeight as ClusterWeight } from '../../../../gen/envoy/config/route/v3/route_components.js'
import { type HeaderChange, readHeaderChange } from './headers.js'

/** What one level of the configuration, or several, change in requests and in responses. */
export interface Changes {
  readonly request: ReadonlyArray<HeaderChange>
  readonly response: ReadonlyArray<HeaderChange>
}

export const noChanges: Changes = { request: [], response: [] }

/** Reads the header changes of a message that has any. */
export const readChanges = (
  of: Pick<
    ClusterWeight,
    | 'requestHeadersToAdd'
    | 'requestHeadersToRemove'
    | 'responseHeadersToAdd'
    | 'responseHeadersToRemove'
  >,
): Changes => ({
  request: [readHeaderChange(of.requestHeadersToAdd, of.requestHeadersToRemove)],
  response: [readHeaderChange(of.responseHeadersToAdd, of.responseHeadersToRemove)],
})

/** The most specific level comes first, so that what stands above has the last word. */
export const joined = (level: Changes, above: Changes): Changes => ({
  request: [...level.request, ...above.request],
  response: [...level.response, ...above.response],
})

/** The fields that `readChanges` reads. */
export const changeFields = [
  'requestHeadersToAdd',
  'requestHeadersToRemove',
  'responseHeadersToAdd',
  'responseHeadersToRemove',
] as const
