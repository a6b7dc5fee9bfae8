export { type ApiError, expired, timeout } from './api-error.js'
export type { ApiObject, MetaInput, ObjectInput, ObjectMeta } from './api-object.js'
export type { ApiConnection, OnAnswer } from './connection.js'
export type { ApiFaults, ApiRequest, EventFate, RequestFate, WatchFate } from './faults.js'
export type { JsonPatch, PatchOperation } from './json-patch.js'
export {
  defaultRelistMs,
  memoryRoutes,
  type MemoryRoutes,
  type MemoryRoutesOptions,
} from './routes.js'
export {
  defaultBookmarkMs,
  defaultHistoryLimit,
  memoryApiServer,
  type MemoryApiServer,
  type MemoryApiServerOptions,
} from './server.js'
export type { ApiList, Change } from './server-state.js'
export type { WatchEvent } from './watch-event.js'
export type { WatchHandlers } from './watch-stream.js'
export type { Write } from './write.js'
