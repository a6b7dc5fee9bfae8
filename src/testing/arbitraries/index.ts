export { type RouteChange, routeChanges, routesAfter } from './changes.js'
export { routingContext } from './context.js'
export { invalidRoute } from './invalid.js'
export { requestsTo, type RoutedRequest } from './requests.js'
export {
  conflictingRoutes,
  edgeRoute,
  edgeRoutes,
  edgeRouteSpec,
  living,
  shuffled,
} from './routes.js'
export { type RoutingWorld, routingWorld } from './world.js'
