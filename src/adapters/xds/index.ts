export { defaultXdsLimits, type XdsLimits } from './limits.js'
export { type Address } from './listen.js'
export { serveXds, type XdsServer, type XdsServerOptions } from './server.js'
