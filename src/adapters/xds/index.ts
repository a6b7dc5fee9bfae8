export type { HostPort } from '../../ports/host-port.js'
export { defaultXdsLimits, type XdsLimits } from './limits.js'
export { serveXds, type XdsServer, type XdsServerOptions } from './server.js'
