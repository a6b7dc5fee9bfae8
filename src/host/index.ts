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
export { type ControllerPorts, runController } from './controller.js'
export { fromPromises, type PromisePorts } from './from-promises.js'
export { jsonLogger, type LoggerOptions, textLogger } from './logger.js'
export { observeXds, type ObserveOptions } from './observe-xds.js'
