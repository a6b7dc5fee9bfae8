export type {
  BrokenDocument,
  ErrorDocument,
  ErrorReason,
  ForgottenDocument,
  NodeDocument,
  NodesDocument,
  RouteDocument,
  RoutesDocument,
  WaitedForDocument,
  WaitsForDocument,
} from './document.js'
export { type AdminLimits, defaultAdminLimits } from './limits.js'
export { type AdminOptions, type AdminServer, serveAdmin } from './server.js'
