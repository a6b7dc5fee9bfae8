/** The client side of xDS as a pure machine: `start`, `step`, and what can be seen of its state. */
export { acked, type EnvoyStep, held, nacked, openConnection, request, step } from './client.js'
export { type ConnectionId, keptConnections } from './connections.js'
export { defaultDrainMs, defaultFetchMs } from './options.js'
export {
  mayReach,
  possibleAnswers,
  type PossibleAnswer,
  type Reach,
  servedTables,
  type ServedTable,
} from './reach.js'
export { keptAnswers, restarted, start } from './state.js'
export { nextTimer } from './time.js'
