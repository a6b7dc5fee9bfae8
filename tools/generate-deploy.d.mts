import type { CustomResourceDefinition } from '../src/core/crd.js'
import type { bootstrap } from '../src/host/bootstrap.js'

export interface DeploySources {
  readonly definition: CustomResourceDefinition
  readonly bootstrap: typeof bootstrap
  readonly dataPlane: string
  /** Where the Envoys of that data plane listen for HTTP. */
  readonly httpPort: number
  /** What the control plane holds routes with. */
  readonly finalizer: string
  readonly envoyVersion: string
  readonly version: string
}

export interface PolicyRule {
  readonly apiGroups: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<string>
}

export declare const clusterRules: ReadonlyArray<PolicyRule>
export declare const namespaceRules: ReadonlyArray<PolicyRule>
export declare const deployFiles: (
  sources: DeploySources,
) => Promise<Readonly<Record<string, string>>>
