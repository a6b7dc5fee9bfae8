import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import {
  connectKubernetes,
  type KubeConfig,
  type KubeConfigFrom,
  loadKubeConfig,
} from '../../src/adapters/k8s/client/index.js'
import {
  startHttpsServer,
  temporaryDirectory,
  testCertificates,
} from '../support/k8s-https-server.js'

const loaded = async (from: KubeConfigFrom): Promise<KubeConfig> => {
  const result = await loadKubeConfig(from)
  if (E.isLeft(result)) throw new Error(result.left)
  return result.right
}

const write = (directory: string, name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const config = (name: string, user: string, server = 'https://10.0.0.1:6443'): string => `
apiVersion: v1
kind: Config
clusters: [{ name: ${name}, cluster: { server: "${server}" } }]
users: [{ name: ${name}, user: ${user} }]
contexts: [{ name: ${name}, context: { cluster: ${name}, user: ${name}, namespace: ${name}-ns } }]
current-context: ${name}
`

const problem = async (from: KubeConfigFrom): Promise<string> => {
  const result = await loadKubeConfig(from)
  return E.isLeft(result) ? result.left : 'none'
}

type Files = KubeConfigFrom & { readonly _tag: 'Files' }

const files = (...paths: ReadonlyArray<string>): Files => ({ _tag: 'Files', paths })

test('of several files the first has the say, and the others add to it', async () => {
  const directory = temporaryDirectory()
  const a = write(directory, 'a', config('a', '{ token: one }'))
  const b = write(directory, 'b', config('a', '{ token: two }'))
  const c = write(directory, 'c', config('c', '{ token: three }', 'https://10.0.0.3:6443/'))
  const from = files(join(directory, 'missing'), a, b, c)
  const first = await loaded(from)
  expect(first.getCurrentContext()).toBe('a')
  expect(first.getCurrentUser()?.token).toBe('one')
  const chosen = await loaded({ ...from, context: 'c' })
  expect(chosen.getCurrentCluster()?.server).toBe('https://10.0.0.3:6443')
  expect(chosen.getContextObject('c')?.namespace).toBe('c-ns')
})

test('the paths in a file start from its folder', async () => {
  const directory = temporaryDirectory()
  const path = write(
    directory,
    'config',
    `clusters: [{ name: a, cluster: { server: "https://a", certificate-authority: ca.crt } }]
users:
  - { name: certificate, user: { client-certificate: u.crt, client-key: /keys/u.key } }
  - { name: file, user: { tokenFile: secrets/token, token: older } }
  - { name: relative, user: { exec: { command: ./login, args: [a] } } }
  - { name: searched, user: { exec: { command: login } } }
contexts:
  - { name: certificate, context: { cluster: a, user: certificate } }
  - { name: file, context: { cluster: a, user: file } }
  - { name: relative, context: { cluster: a, user: relative } }
  - { name: searched, context: { cluster: a, user: searched } }
`,
  )
  const as = async (context: string) =>
    (await loaded({ _tag: 'Files', paths: [path], context })).getCurrentUser()
  const certificate = await loaded({ _tag: 'Files', paths: [path], context: 'certificate' })
  expect(certificate.getCurrentCluster()?.caFile).toBe(join(directory, 'ca.crt'))
  expect(await as('certificate')).toMatchObject({
    certFile: join(directory, 'u.crt'),
    keyFile: '/keys/u.key',
  })
  expect(await as('file')).toMatchObject({
    authProvider: { name: 'tokenFile', config: { tokenFile: join(directory, 'secrets/token') } },
  })
  expect(await as('relative')).toMatchObject({
    exec: { command: join(directory, 'login'), args: ['a'] },
  })
  expect(await as('searched')).toMatchObject({ exec: { command: 'login' } })
})

test('what is wrong with a kubeconfig is said with what to do', async () => {
  const directory = temporaryDirectory()
  let count = 0
  const at = (text: string): Files => files(write(directory, `${(count += 1)}.config`, text))
  const cases: ReadonlyArray<readonly [KubeConfigFrom, RegExp]> = [
    [files(), /^no kubeconfig was named$/],
    [files('/nowhere/a', '/nowhere/b'), /^there is no kubeconfig at \/nowhere\/a or \/nowhere\/b/],
    [files(directory), /^cannot read the kubeconfig .*: it is a directory$/],
    [at(''), /config is no kubeconfig: /],
    [at('a: ['), /config is no kubeconfig: unexpected end/],
    [at('- a'), /config is no kubeconfig: its kind must be Config/],
    [at('kind: Pod'), /config is no kubeconfig: its kind must be Config/],
    [at('clusters: [{ name: a }]'), /config is no kubeconfig: clusters\[0\].cluster is missing/],
    [at('kind: Config'), /^the kubeconfig has no current-context. It has none.$/],
    [
      at(config('a', '{}').replace(/current-context.*/, '')),
      /no current-context. Choose one of: a/,
    ],
    [{ ...at(config('a', '{}')), context: 'b' }, /no context "b". Choose .*: a\.$/],
    [at(config('a', '{}').replace('cluster: a, user', 'cluster: z, user')), /names cluster "z"/],
    [at(config('a', '{}').replace('user: a,', 'user: z,')), /names user "z"/],
    [at(config('a', '{ as: b, as-groups: [c] }')), /^user "a" has as-groups, .* remove it/],
    [at(config('a', '{}', '10.0.0.1')), /the server "10.0.0.1" of cluster "a" is no address/],
    [at(config('a', '{}').replace('} }]', ', proxy-url: "http://p" } }]')), /^the proxy-url of/],
  ]
  for (const [from, expected] of cases) expect(await problem(from)).toMatch(expected)
})

test('an impersonation that is not supported harms no other user of the file', async () => {
  const text = config('a', '{ token: t }').replace(
    'users: [',
    'users: [{ name: b, user: { as-groups: [c] } }, ',
  )
  expect(await problem(files(write(temporaryDirectory(), 'config', text)))).toBe('none')
})

test('a Pod is its service account, whose token and authority are read again', async () => {
  const server = await startHttpsServer((asked, answer) =>
    answer.end(JSON.stringify(asked.headers.authorization)),
  )
  const directory = temporaryDirectory()
  const { ca } = await testCertificates()
  copyFileSync(ca, join(directory, 'ca.crt'))
  write(directory, 'token', 'from-the-kubelet')
  write(directory, 'namespace', 'edge\n')
  const port = String(server.port)
  const kubeConfig = await loaded({ _tag: 'InCluster', host: '127.0.0.1', port, directory })
  const context = kubeConfig.getContextObject(kubeConfig.getCurrentContext())
  expect(context?.namespace).toBe('edge')
  const client = connectKubernetes({ kubeConfig })
  const request = { method: 'GET', path: '/api', deadlineMs: 10_000 } as const
  expect(await client.send(request, new AbortController().signal)()).toEqual(
    E.right({ status: 200, body: 'Bearer from-the-kubelet', retryAfterMs: undefined }),
  )
  client.close()
})

test('an IPv6 address of the API server is written as addresses are', async () => {
  const directory = temporaryDirectory()
  for (const name of ['ca.crt', 'token']) write(directory, name, 'x')
  const kubeConfig = await loaded({ _tag: 'InCluster', host: 'fd77::1', port: '443', directory })
  expect(connectKubernetes({ kubeConfig }).server).toBe('https://[fd77::1]')
})

test('what is missing in a Pod is said with what to do', async () => {
  const directory = temporaryDirectory()
  const pod = { _tag: 'InCluster', host: '10.0.0.1', port: '443', directory } as const
  expect(await problem({ ...pod, host: '' })).toMatch(
    /this is no Pod of a cluster.* Name a kubeconfig/,
  )
  expect(await problem(pod)).toMatch(/cannot read \S+ca.crt: there is no such file. .*automount/)
  write(directory, 'ca.crt', 'x')
  expect(await problem(pod)).toMatch(/cannot read \S+token: there is no such file/)
})
