/**
 * For people who test routing configurations, controllers, and hosts of their own: generators of routes and of
 * what happens to them, everything around a control plane in memory, and what must be so, as functions.
 *
 * Needs `fast-check`.
 *
 * @packageDocumentation
 */
export * from './arbitraries/index.js'
export { unknownClusters, wrongAnswers } from './invariants/envoys.js'
export { type ReleaseWatch, watchReleases } from './invariants/releases.js'
export { type ServedObjects, servedObjects, stillServed } from './invariants/served-objects.js'
export { openReferences, refusedRoutes, translationFaults } from './invariants/snapshots.js'
export type { Law, Violation } from './invariants/violation.js'
export {
  type RouteInput,
  type SimulatedHost,
  simulatedHost,
  type SimulatedHostOptions,
} from './simulated-host.js'
export { takerOf } from './taker-of.js'

export * from '../adapters/memory/index.js'
