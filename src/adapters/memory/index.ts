/**
 * Everything that edgewright needs of the world, in memory: for tests, and for trying things out.
 *
 * @packageDocumentation
 */
export { maxCallbacks, virtualClock, type VirtualClock } from './clock.js'
export { memoryLogger, type LogEntry, type MemoryLogger } from './logger.js'
export { memoryMetrics, type MemoryMetrics } from './metrics.js'
export { type MemoryRosterStore, memoryRosterStore, type RosterFault } from './roster-store.js'
export { memoryRouteSource, type MemoryRouteSource } from './route-source.js'
export {
  type ApiConnection,
  type ApiError,
  type ApiFaults,
  type ApiList,
  type ApiObject,
  type ApiRequest,
  type Change,
  defaultBookmarkMs,
  defaultHistoryLimit,
  defaultRelistMs,
  type EventFate,
  expired,
  type JsonPatch,
  memoryApiServer,
  type MemoryApiServer,
  type MemoryApiServerOptions,
  memoryRoutes,
  type MemoryRoutes,
  type MemoryRoutesOptions,
  type MetaInput,
  type ObjectInput,
  type ObjectMeta,
  type OnAnswer,
  type PatchOperation,
  type RequestFate,
  timeout,
  type WatchEvent,
  type WatchFate,
  type WatchHandlers,
  type Write,
} from './api-server/index.js'
export {
  maxMessages,
  memoryControlPlane,
  type MemoryControlPlane,
  type MemoryControlPlaneOptions,
} from './transport/control-plane.js'
export type { MemoryEnvoy } from './transport/envoy.js'
export type { Delivery } from './transport/queues.js'
export {
  type ConnectionId,
  defaultDrainMs,
  defaultFetchMs,
  mayReach,
  nextTimer,
  openConnection,
  type PossibleAnswer,
  possibleAnswers,
  type Reach,
  restarted,
  type ServedTable,
  servedTables,
} from './envoy/client/index.js'
export type { ReceivedResource, ReceivedResponse } from './envoy/client/messages.js'
export type {
  Acked,
  Answered,
  EnvoyOptions,
  EnvoyState,
  HeldResource,
  Nacked,
  Refusal,
  Refuse,
  Watch,
  Watches,
} from './envoy/client/state.js'
export {
  type AddedHeader,
  changeHeaders,
  type Header,
  type HeaderChange,
} from './envoy/routing/headers.js'
export type {
  Answer,
  EndpointAddress,
  Forwarded,
  Redirected,
  Request,
  Responded,
} from './envoy/routing/request.js'
