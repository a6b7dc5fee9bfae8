/** The client side of xDS as a pure machine: `start`, `step`, and what can be seen of its state. */
export { acked, type EnvoyStep, held, nacked, request, step } from './client.js'
export { keptAnswers, start } from './state.js'
