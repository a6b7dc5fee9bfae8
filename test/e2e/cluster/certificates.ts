import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The keys and certificates of a cluster, as paths of PEM files. */
export interface Certificates {
  /** Has signed all of the others, those of servers and those of clients. */
  readonly ca: string
  readonly server: KeyPair
  /** A client that may do everything. */
  readonly admin: KeyPair
  readonly controllerManager: KeyPair
  /** The key that service account tokens are signed with. */
  readonly tokens: { readonly privateKey: string; readonly publicKey: string }
}

export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

/** Where the files are in a folder, whether or not they have been made. */
export const certificatesIn = (directory: string): Certificates => {
  const pair = (name: string): KeyPair => ({
    certificate: join(directory, `${name}.crt`),
    key: join(directory, `${name}.key`),
  })
  return {
    ca: pair('ca').certificate,
    server: pair('server'),
    admin: pair('admin'),
    controllerManager: pair('controller-manager'),
    tokens: {
      privateKey: join(directory, 'tokens.key'),
      publicKey: join(directory, 'tokens.pub'),
    },
  }
}

/** Longer than any run, and short enough that a certificate that leaks soon is worth nothing. */
const validDays = 2

const serverNames = [
  'IP:127.0.0.1',
  'DNS:localhost',
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
]

/** What openssl needs to know of each kind of certificate. */
const openSslConfig = `[req]
distinguished_name = subject
[subject]
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,digitalSignature
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = ${serverNames.join(',')}
[client]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth
`

/** Makes all of them in a folder: Kubernetes takes the groups and the name of a client from its subject. */
export const makeCertificates = async (directory: string): Promise<Certificates> => {
  await mkdir(directory, { recursive: true })
  const config = join(directory, 'openssl.cnf')
  await writeFile(config, openSslConfig)
  const make = (name: string, kind: string, subject: string, ...signer: ReadonlyArray<string>) =>
    promisify(execFile)('openssl', [
      ...['req', '-x509', '-config', config, '-extensions', kind, '-subj', subject, '-nodes'],
      ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-sha256'],
      ...['-days', String(validDays), ...signer],
      ...['-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.crt`)],
    ])
  await make('ca', 'ca', '/CN=edgewright-e2e')
  const signer = ['-CA', join(directory, 'ca.crt'), '-CAkey', join(directory, 'ca.key')]
  await Promise.all([
    make('server', 'server', '/CN=kube-apiserver', ...signer),
    make('admin', 'client', '/O=system:masters/CN=admin', ...signer),
    make('controller-manager', 'client', '/CN=system:kube-controller-manager', ...signer),
  ])
  const made = certificatesIn(directory)
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  await writeFile(made.tokens.privateKey, privateKey)
  await writeFile(made.tokens.publicKey, publicKey)
  return made
}
