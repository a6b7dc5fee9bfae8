/**
 * The host: the loop that runs the core through ports, and what a process around it needs.
 */
export {
  bootstrap,
  type BootstrapConfig,
  type BootstrapOptions,
  defaultMaxConnections,
  type HostPort,
  showHostPort,
} from './bootstrap.js'
export { systemClock } from './clock.js'
export {
  type Controller,
  type ControllerPorts,
  type DeletionPorts,
  type ReleaseGate,
  runController,
  startController,
} from './controller.js'
export {
  type EnvoyFleet,
  type FleetStart,
  type HostPorts,
  type RunningHost,
  startHost,
} from './start-host.js'
export * from './admin/index.js'
export type { StandingSource } from './keep-gate.js'
export { keepRoster, type KeepRosterPorts, type RosterKeeper } from './keep-roster.js'
export type { ForgottenBy, RosterFact } from './report-roster.js'
export type { Reconciled } from './reconcile.js'
export { type Activity, type StreamActivity, watchActivity } from './activity.js'
export { makeOperator, type OperatorPorts } from './make-operator.js'
export type {
  BreakGlassResult,
  Explanation,
  ForgetResult,
  LastSaid,
  NodeRefusal,
  NodeReport,
  Operator,
} from './operator.js'
export {
  type AddOptions,
  type Worked,
  workQueue,
  type WorkQueue,
  type WorkQueueOptions,
} from './work-queue.js'
export { fromPromises, type PromisePorts } from './from-promises.js'
export { jsonLogger, type LoggerOptions, textLogger } from './logger.js'
export { observeXds, type ObserveOptions } from './observe-xds.js'
export { type RecoveryPorts, reportRecoveries } from './report-recoveries.js'
