export type { KubeCluster, KubeConfig, KubeContext, KubeUser } from './kube-config.js'
export {
  connectKubernetes,
  type KubernetesClient,
  type KubernetesClientOptions,
} from './connect.js'
export { type KubeConfigFrom, loadKubeConfig } from './load-kube-config.js'
