export { type AdminLimits, defaultAdminLimits } from './limits.js'
export { type AdminOptions, type AdminServer, serveAdmin } from './server.js'
