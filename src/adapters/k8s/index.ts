/**
 * A Kubernetes cluster as the world of a control plane: where its routes, Services and EndpointSlices come from, where
 * finalizers, conditions, Events and the roster are written, and who is at work. Of `@kubernetes/client-node` it
 * takes the reading of kubeconfigs and what credentials need.
 *
 * @packageDocumentation
 */
export type { ApiClient, ApiFailure, ApiReply, ApiRequest, ApiStream } from './api.js'
export {
  connectKubernetes,
  type KubeCluster,
  type KubeConfig,
  type KubeConfigFrom,
  type KubeContext,
  type KubernetesClient,
  type KubernetesClientOptions,
  type KubeUser,
  loadKubeConfig,
} from './client/index.js'
export { podOf, type PodRef } from './cluster/pod-of.js'
export { kubernetesSource } from './cluster-source.js'
export {
  type ClusterEvent,
  kubernetesEvents,
  type KubernetesEvents,
  type KubernetesEventsOptions,
} from './events.js'
export { type EnvoyPodsOptions, watchEnvoyPods } from './envoy-pods.js'
export {
  askToForget,
  type AskToForgetOptions,
  type ForgetAnswer,
  forgetRequestsName,
  serveForgetRequests,
  type ServeForgetRequestsOptions,
} from './forget-requests.js'
export type { FollowOptions } from './informers/index.js'
export {
  type InspectProblem,
  inspectPods,
  inspectRoute,
  inspectTerminating,
  type SeenPod,
} from './inspect/index.js'
export {
  defaultLeaseName,
  findLeases,
  keepLease,
  type KeepLeaseOptions,
  type KeptLease,
  type LeaseFact,
  type LeaseFound,
  type LeaseOptions,
  type LeaseState,
  readLease,
} from './lease.js'
export { type HeldClient, whileHeld } from './lease/held-client.js'
export type { ApiProblem } from './objects/api-problem.js'
export {
  defaultRosterName,
  kubernetesRosterStore,
  type KubernetesRosterOptions,
} from './roster-store.js'
export { kubernetesRoutes, type KubernetesRoutesOptions } from './route-source.js'
export {
  defaultFieldManager,
  kubernetesRouteStore,
  type KubernetesRouteStoreOptions,
} from './route-store.js'
export { findAtBirthPolicies } from './write/at-birth.js'
export { defaultWriteLimits, type WriteLimits } from './write/limits.js'
export {
  type ReleaseFailure,
  type Uninstalled,
  type UninstallError,
  type UninstallErrorTag,
  type UninstallOptions,
  uninstallRoutes,
} from './write/uninstall.js'
