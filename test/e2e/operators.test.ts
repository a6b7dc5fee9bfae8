import { expect, onTestFinished, test } from 'vitest'
import { type Finished, spawnCli } from '../support/cli.js'
import { eventually } from '../support/envoy.js'
import { startTestEdge } from './support/edge.js'
import { prefixRoute } from './support/edge-objects.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()

const finalizer = 'net.10xdev.io/deprogram'

/** Runs a command as a process of its own: what keeps one waiting must also keep it alive. */
const run = (...argv: ReadonlyArray<string>): Promise<Finished> => {
  const cli = spawnCli([...argv, '--kubeconfig', cluster.kubeconfig])
  onTestFinished(cli.dispose)
  return cli.finished
}

test('nodes lists the Envoys of a cluster, and explain tells who is at work', async () => {
  const edge = await startTestEdge(cluster, { name: 'operators' })
  await edge.startEnvoy({ variant: 'delta', id: 'envoy-here' })
  await edge.apply(prefixRoute(edge.namespace, 'one'))
  const own = ['--own-namespace', edge.system]
  const nodes = await eventually(
    () => run('nodes', ...own),
    ({ out }) => out.includes('envoy-here'),
  )
  expect(nodes).toMatchObject({ code: 0, err: '' })
  expect(nodes.out).toContain('Control plane: at work (')
  const explained = await eventually(
    () => run('explain', `${edge.namespace}/one`, ...own),
    ({ out }) => out.includes('Programmed=True'),
  )
  expect(explained.out).toContain(
    'one is served everywhere, and a backend leads nowhere (ServiceNotFound)\n',
  )
  expect(explained.out).toContain('control    at work')
})

test('uninstall waits for the end of the control plane, be it a violent one, and frees every route', async () => {
  const edge = await startTestEdge(cluster, { name: 'uninstall' })
  await edge.apply(...['one', 'two'].map((name) => prefixRoute(edge.namespace, name)))
  const held = async () =>
    (await edge.list()).filter(({ metadata }) => metadata.finalizers?.includes(finalizer)).length
  await eventually(held, (count) => count === 2)
  const uninstall = () =>
    run(
      ...['uninstall', '--yes'],
      ...['--own-namespace', edge.system, '--namespace', edge.namespace],
    )
  const refused = await uninstall()
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain('at work')
  expect(await held()).toBe(2)
  await edge.program.kill()
  const done = await eventually(uninstall, ({ code }) => code === 0, 90_000)
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(done.out).toContain('The finalizer is off 2 routes.')
  expect(await held()).toBe(0)
})

test('a second process in its Pod leaves the Lease to a control plane, which gives it back at its end', async () => {
  const edge = await startTestEdge(cluster, { name: 'one-pod' })
  const holder = () =>
    cluster.kubectl([
      ...['--namespace', edge.system, 'get', 'lease', 'edgewright'],
      ...['--output', 'jsonpath={.spec.holderIdentity}'],
    ])
  const name = await eventually(holder, (text) => text !== '')
  expect(name).toContain(edge.program.admin)
  const second = await run(
    ...['serve', '--kubernetes', '--own-namespace', edge.system],
    ...['--xds', '127.0.0.1:0', '--admin', edge.program.admin],
  )
  expect(second).toMatchObject({ code: 1 })
  expect(second.err).toContain('the port is in use')
  expect(await holder()).toBe(name)
  expect(await edge.program.stop()).toBe(0)
  expect(await holder()).toBe('')
})
