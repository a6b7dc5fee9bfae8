import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { certificatesIn, type KeyPair } from './certificates.js'
import { compact } from './etcd.js'
import { type JsonAnswer, type JsonRequest, requestPatiently } from './request.js'
import { type ServiceAccount, signToken } from './tokens.js'

/** Where a cluster is: all that another process needs to use it. Plain data. */
export interface ClusterAddress {
  /** Holds its keys, its logs and its kubeconfig. */
  readonly directory: string
  /** Of the API server, as in `https://127.0.0.1:20001`. */
  readonly url: string
  readonly etcdUrl: string
  /** The bearer token of somebody who may do everything. */
  readonly adminToken: string
}

/** How somebody tells the API server who they are. */
export type Credentials =
  | { readonly token: string }
  /** Read again by clients that can, after it was changed. */
  | { readonly tokenFile: string }

/** What can be done with a cluster by anybody who knows its address. */
export interface ClusterAccess extends ClusterAddress {
  /** Of somebody who may do everything. */
  readonly kubeconfig: string
  /** The authority that has signed the API server's certificate. */
  readonly caFile: string
  /** The API server's own, for whoever is to stand in for it on 127.0.0.1. */
  readonly serverCertificate: KeyPair
  /** Writes a kubeconfig for others, or for another way to the API server, and returns its path. */
  readonly writeKubeconfig: (
    name: string,
    credentials: Credentials,
    url?: string,
  ) => Promise<string>
  readonly mintToken: (account: ServiceAccount, lifeMs: number) => string
  /** Runs kubectl as somebody who may do everything. Rejects, with what it said, where it fails. */
  readonly kubectl: (args: ReadonlyArray<string>, input?: string) => Promise<string>
  /** Sends one request as somebody who may do everything, unless it says otherwise. */
  readonly request: (request: JsonRequest) => Promise<JsonAnswer>
  /** See `compact`. */
  readonly compactEtcd: () => Promise<string>
}

/** A cluster that can be disturbed. */
export interface Cluster extends ClusterAccess {
  /** Ends the API server: at once (SIGKILL, the default), or as it likes to (SIGTERM). */
  readonly stopApiServer: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>
  /** Starts it again at the same address, and waits until it is ready. No change where it runs. */
  readonly startApiServer: () => Promise<void>
}

/** kubectl waits for many things without an end of its own. */
const kubectlWithinMs = 120_000
/** What kubectl prints of 10,000 routes. */
const maxOutputBytes = 256 * 2 ** 20

/** What can be done with the cluster at this address. */
export const accessTo = (address: ClusterAddress): ClusterAccess => {
  const { directory, url, etcdUrl, adminToken } = address
  const certificates = certificatesIn(join(directory, 'keys'))
  const kubeconfig = join(directory, 'kubeconfig')
  const ca = readFileSync(certificates.ca)
  return {
    ...address,
    kubeconfig,
    caFile: certificates.ca,
    serverCertificate: certificates.server,
    writeKubeconfig: async (name, credentials, server = url) => {
      const path = join(directory, `${name}.kubeconfig`)
      await writeFile(path, kubeconfigOf({ server, ca: certificates.ca, user: credentials }))
      return path
    },
    mintToken: (account, lifeMs) =>
      signToken(readFileSync(certificates.tokens.privateKey, 'utf8'), account, lifeMs),
    kubectl: (args, input) => runKubectl([`--kubeconfig=${kubeconfig}`, ...args], input),
    request: (request) => requestPatiently(url, ca, { token: adminToken, ...request }),
    compactEtcd: () => compact(etcdUrl),
  }
}

interface KubeconfigParts {
  readonly server: string
  readonly ca: string
  readonly user:
    Credentials | { readonly 'client-certificate': string; readonly 'client-key': string }
}

/** A kubeconfig in JSON, which is YAML, too. */
export const kubeconfigOf = ({ server, ca, user }: KubeconfigParts): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'e2e', cluster: { server, 'certificate-authority': ca } }],
    users: [{ name: 'e2e', user }],
    contexts: [{ name: 'e2e', context: { cluster: 'e2e', user: 'e2e', namespace: 'default' } }],
    'current-context': 'e2e',
  })

const runKubectl = (args: ReadonlyArray<string>, input = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { timeout: kubectlWithinMs, maxBuffer: maxOutputBytes }
    const child = execFile('kubectl', args, options, (error, out, err) => {
      if (error === null) return resolve(out)
      const how = error.killed === true ? `did not end within ${kubectlWithinMs} ms` : err.trim()
      reject(new Error(`kubectl ${args.slice(1).join(' ')}: ${how || error.message}`))
    })
    // It may end before it has read all of it; that is said by its exit code.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
