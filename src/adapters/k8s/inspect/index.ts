export type { InspectProblem } from './list.js'
export { inspectPods, type SeenPod } from './pods.js'
export { inspectRoute, inspectTerminating } from './routes.js'
