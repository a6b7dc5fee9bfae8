import type { RequestOptions } from 'node:https'

/**
 * What we use of a `KubeConfig` of `@kubernetes/client-node`; every one of 1.4 and 2.x is one. (The
 * library's own types are not among ours: they do not compile without packages that it does not
 * bring.)
 *
 * @category kubernetes
 * @since 0.3.0
 */
export interface KubeConfig {
  readonly contexts: ReadonlyArray<KubeContext>
  readonly currentContext: string
  readonly getClusters: () => ReadonlyArray<KubeCluster>
  readonly getUsers: () => ReadonlyArray<KubeUser>
  readonly getCurrentContext: () => string
  readonly getContextObject: (name: string) => KubeContext | null
  readonly getCurrentCluster: () => KubeCluster | null
  readonly getCurrentUser: () => KubeUser | null
  readonly applyToHTTPSOptions: (options: RequestOptions) => Promise<void>
}

/** A cluster of a KubeConfig. What is not there may be `null`, here and below. */
export interface KubeCluster {
  readonly name: string
  readonly server: string
  readonly caFile?: string | null | undefined
  readonly caData?: string | null | undefined
  readonly tlsServerName?: string | null | undefined
  readonly skipTLSVerify?: boolean | undefined
  readonly proxyUrl?: string | null | undefined
}

/** A user of a KubeConfig. */
export interface KubeUser {
  readonly name: string
  readonly certFile?: string | null | undefined
  readonly certData?: string | null | undefined
  readonly token?: string | null | undefined
  readonly exec?: unknown
  readonly authProvider?: unknown
}

/** A context of a KubeConfig. */
export interface KubeContext {
  readonly name: string
  readonly cluster: string
  readonly user?: string | null | undefined
  readonly namespace?: string | null | undefined
}
