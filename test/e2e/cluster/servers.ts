import { join } from 'node:path'
import type { Certificates } from './certificates.js'
import { tokenIssuer } from './tokens.js'

/** All that the servers of a cluster share. */
export interface ClusterPlan {
  /** The folder with the three programs. */
  readonly binaries: string
  readonly directory: string
  readonly certificates: Certificates
  readonly ports: Ports
  /** The file with `adminToken`. */
  readonly tokensCsv: string
  /** The kubeconfig of the controller manager. */
  readonly controllerKubeconfig: string
}

export interface Ports {
  readonly etcd: number
  readonly etcdPeers: number
  readonly apiServer: number
  readonly controllerManager: number
}

/** 4 GiB: more than any test writes before it compacts. */
const etcdQuotaBytes = 2 ** 32

/** What a cluster without nodes has use for; the defaults are some forty. */
const controllers = [
  'clusterrole-aggregation-controller',
  'endpointslice-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
]

export const etcdUrl = ({ etcd }: Ports): string => `http://127.0.0.1:${etcd}`
export const apiServerUrl = ({ apiServer }: Ports): string => `https://127.0.0.1:${apiServer}`

/** Without fsync: what a machine that loses its power loses is a test run. */
export const etcdArgs = ({ directory, ports }: ClusterPlan): ReadonlyArray<string> => {
  const peers = `http://127.0.0.1:${ports.etcdPeers}`
  return [
    '--name=e2e',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${etcdUrl(ports)}`,
    `--advertise-client-urls=${etcdUrl(ports)}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=e2e=${peers}`,
    '--unsafe-no-fsync',
    `--quota-backend-bytes=${etcdQuotaBytes}`,
    '--log-level=warn',
  ]
}

/** No endpoint of its own in the `kubernetes` Service: a loopback address would be refused. */
export const apiServerArgs = (plan: ClusterPlan): ReadonlyArray<string> => {
  const { ca, server, tokens } = plan.certificates
  return [
    `--etcd-servers=${etcdUrl(plan.ports)}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${plan.ports.apiServer}`,
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.96.0.0/16',
    `--cert-dir=${join(plan.directory, 'keys')}`,
    `--tls-cert-file=${server.certificate}`,
    `--tls-private-key-file=${server.key}`,
    `--client-ca-file=${ca}`,
    `--token-auth-file=${plan.tokensCsv}`,
    '--authorization-mode=RBAC',
    `--service-account-issuer=${tokenIssuer}`,
    `--service-account-key-file=${tokens.publicKey}`,
    `--service-account-signing-key-file=${tokens.privateKey}`,
    // Asked to end, it would otherwise wait for its watches, for a minute.
    '--shutdown-watch-termination-grace-period=1s',
    '--allow-privileged=true',
    '--profiling=false',
    '--v=1',
  ]
}

export const controllerManagerArgs = (plan: ClusterPlan): ReadonlyArray<string> => {
  const { ca, tokens } = plan.certificates
  return [
    `--kubeconfig=${plan.controllerKubeconfig}`,
    `--authentication-kubeconfig=${plan.controllerKubeconfig}`,
    `--authorization-kubeconfig=${plan.controllerKubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${plan.ports.controllerManager}`,
    `--cert-dir=${join(plan.directory, 'keys')}`,
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    `--controllers=${controllers.join(',')}`,
    `--service-account-private-key-file=${tokens.privateKey}`,
    `--root-ca-file=${ca}`,
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--v=1',
  ]
}
