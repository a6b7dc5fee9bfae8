import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { filesIn, installWith, spawnCli } from '../support/cli.js'
import { kubeconfigFor } from '../support/cli-api-server.js'
import { eventually } from '../support/envoy.js'

const cleanups: Array<() => unknown> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const { directory, dispose } = filesIn(files)
  cleanups.push(dispose)
  return directory
}

const run = (...parameters: Parameters<typeof spawnCli>) => {
  const cli = spawnCli(...parameters)
  cleanups.push(cli.dispose)
  return cli
}

test.each([
  ['serve', '--kubernetes', '--xds', '127.0.0.1:0'],
  ['explain', 'shop/checkout', '--kubernetes'],
  ['nodes', '--kubernetes'],
  ['forget', 'envoy-1', '--kubernetes'],
  ['break-glass', 'shop/checkout', '--kubernetes'],
  ['uninstall', '--yes'],
])(
  '%s names the client of Kubernetes where it is missing, and how to install it',
  async (...argv) => {
    const root = directoryWith({})
    // Those that the gRPC library needs, too.
    const grpc = [
      '@grpc',
      '@js-sdsl',
      'lodash.camelcase',
      'long',
      'protobufjs',
      '@protobufjs',
      'yargs',
    ]
    const packages = ['fp-ts', 'io-ts', 're2js', '@bufbuild', 'yaml', ...grpc]
    const { code, out, err } = await run(argv, installWith(root, packages)).finished
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('npm install @kubernetes/client-node@')
    expect(err).not.toMatch(/^ +at /m)
  },
)

test('serve ends with a signal while no API server answers', async () => {
  const directory = directoryWith({ config: kubeconfigFor('http://127.0.0.1:1') })
  const KUBECONFIG = join(directory, 'config')
  const argv = ['serve', '--kubernetes', '--xds', '127.0.0.1:0', '--admin', 'off']
  const cli = run(argv, { env: { KUBECONFIG } })
  // It waits for its Lease for 30 s before it goes on without.
  await eventually(cli.err, (text) => text.includes('the list of Envoys cannot be read'), 60_000)
  const beganMs = performance.now()
  cli.child.kill('SIGTERM')
  expect((await cli.finished).code).toBe(0)
  expect(performance.now() - beganMs).toBeLessThan(10_000)
})
