import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OwnCluster, startCluster } from './cluster/start-cluster.js'

const commands = [
  ...readFileSync('README.md', 'utf8').matchAll(/^```sh\n(kubectl[\s\S]*?)^```/gm),
].map(([, block = '']) => block.trim())

let cluster: OwnCluster

// One of its own, that knows nothing of edgewright.
beforeAll(async () => {
  cluster = await startCluster({ signal: new AbortController().signal })
})

afterAll(() => cluster.close())

test('what the README does with kubectl works as it stands, in its order', async () => {
  expect(commands.length).toBeGreaterThan(1)
  let said = ''
  for (const command of commands) {
    if (command.includes('edgeroutes'))
      await cluster.kubectl(['wait', '--for=condition=Established', 'crd/edgeroutes.net.10xdev.io'])
    said = execFileSync('bash', ['-euo', 'pipefail', '-c', command], {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      encoding: 'utf8',
    })
  }
  expect(said).toMatch(/^NAMESPACE +NAME +HOSTNAMES +PATHS/m)
  expect(said).toMatch(/^examples +docs /m)
})
