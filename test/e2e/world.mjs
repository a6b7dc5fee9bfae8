// Runs a command in a world of its own:  node test/e2e/world.mjs COMMAND...
// Fetches or builds beforehand what that takes: an Envoy, etcd, a Kubernetes API server and its controllers. The
// command finds them by ENVOY_BIN and EDGEWRIGHT_CLUSTER_BIN; see cluster/in-namespace.sh for the rest of its world.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const envoyBinaryModule = here('../../dist/host/cli/demo/envoy-binary.js')

const fail = (reason) => {
  console.error(`world: ${reason}`)
  process.exit(1)
}

const needed = ['bash', 'flock', 'go', 'ip', 'kubectl', 'mount', 'openssl', 'setpriv', 'unshare']
const folders = (process.env.PATH ?? '').split(delimiter)
const missing = needed.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
if (missing.length > 0) fail(`not on the PATH: ${missing.join(', ')}`)
if (!existsSync(envoyBinaryModule)) fail('there is nothing in dist: npm run build')

const [command, ...args] = process.argv.slice(2)
if (command === undefined) fail('which command?')

const { findEnvoy, envoyCacheDirectory } = await import(envoyBinaryModule)
const envoy = await findEnvoy({
  env: process.env,
  cacheDirectory: envoyCacheDirectory(process.env),
  say: (line) => console.error(line),
  signal: new globalThis.AbortController().signal,
})
if (envoy._tag === 'Left') fail(`there is no Envoy: ${envoy.left.join('; ')}`)

const build = () => {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
    return execFileSync(here('cluster/build.sh'), options).trim()
  } catch {
    return fail('there is no API server to test with')
  }
}

const child = spawn(here('cluster/in-namespace.sh'), [command, ...args], {
  stdio: 'inherit',
  env: { ...process.env, EDGEWRIGHT_CLUSTER_BIN: build(), ENVOY_BIN: envoy.right.path },
})
// What it has started ends with it. (A terminal sends its SIGINT to the command, too, which then tidies up.)
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill('SIGKILL'))
process.on('SIGINT', () => undefined)
child.on('error', (cause) => fail(cause.message))
child.on('close', (code) => process.exit(code ?? 1))
