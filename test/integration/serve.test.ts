import { Agent, createServer } from 'node:http'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { get } from '../../src/host/cli/demo/http.js'
import { type CliProcess, filesIn, routeYaml, spawnCli } from '../support/cli.js'
import { eventually, freePort, request, startTestEnvoy, type TestEnvoy } from '../support/envoy.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Answers every request with its name. */
const startBackend = async (name: string): Promise<number> => {
  const server = createServer((_, response) => response.end(name))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => (server.closeAllConnections(), void server.close()))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const toBackend = (name: string, port: number): string =>
  routeYaml(
    name,
    `{ matches: [{ path: { prefix: /${name} } }], backends: [{ address: { host: 127.0.0.1, port: ${port} } }] }`,
  )

interface Serving {
  readonly cli: CliProcess
  readonly xds: { readonly host: string; readonly port: number }
}

const serve = async (directory: string, listener: number, xdsPort = 0): Promise<Serving> => {
  const cli = spawnCli([
    ...['serve', '--routes', directory, '--xds', `127.0.0.1:${xdsPort}`],
    ...['--listener', `127.0.0.1:${listener}`, '--log-level', 'debug'],
  ])
  cleanups.push(cli.dispose)
  const log = await eventually(cli.err, (text) => text.includes('published'))
  const port = Number(/xds=127\.0\.0\.1:(\d+)/.exec(log)?.[1])
  return { cli, xds: { host: '127.0.0.1', port } }
}

/** Starts an Envoy with what `edgewright bootstrap` prints. */
const startEnvoy = async ({ xds }: Serving, variant: 'delta' | 'sotw'): Promise<TestEnvoy> => {
  const printed = await spawnCli([
    ...['bootstrap', '--xds', `${xds.host}:${xds.port}`, '--variant', variant],
    ...['--envoy-admin', '127.0.0.1:0'],
  ]).finished
  const change = (): Readonly<Record<string, unknown>> =>
    JSON.parse(printed.out) as Readonly<Record<string, unknown>>
  const envoy = await startTestEnvoy({ xds, variant, change })
  cleanups.push(envoy.stop)
  return envoy
}

/** Two routes, two backends, and a control plane. */
const world = async () => {
  const [shop, blog, listener] = await Promise.all([
    startBackend('shop'),
    startBackend('blog'),
    freePort(),
  ])
  const { directory, dispose } = filesIn({
    'shop.yaml': toBackend('shop', shop),
    'blog.yaml': toBackend('blog', blog),
  })
  cleanups.push(dispose)
  const url = (path: string): string => `http://127.0.0.1:${listener}${path}`
  const answers = (path: string, status: number, body?: string): Promise<unknown> =>
    eventually(
      () => request(url(path)),
      (answer) => answer.status === status && (body === undefined || answer.body === body),
    )
  return { directory, listener, url, answers, serving: await serve(directory, listener) }
}

/**
 * Requests without a pause until it is stopped; returns how many there were, and what was wrong.
 */
const startLoad = (url: string, body: string) => {
  const agent = new Agent({ keepAlive: true })
  const wrong: Array<string> = []
  let sent = 0
  let stopped = false
  const work = async (): Promise<void> => {
    while (!stopped) {
      await get(url, { agent }).then(
        (answer) => {
          if (answer.status !== 200 || answer.body !== body) wrong.push(`${answer.status}`)
        },
        (cause: unknown) => wrong.push(String(cause)),
      )
      sent += 1
    }
  }
  const workers = [work(), work(), work(), work()]
  return async (): Promise<{ readonly sent: number; readonly wrong: ReadonlyArray<string> }> => {
    stopped = true
    await Promise.all(workers)
    agent.destroy()
    return { sent, wrong }
  }
}

describe.each(['delta', 'sotw'] as const)('over %s', (variant) => {
  test('two routes answer from their backends, and a prefix ends at a path element', async () => {
    const { serving, answers } = await world()
    const envoy = await startEnvoy(serving, variant)
    await answers('/shop', 200, 'shop')
    await answers('/blog/1', 200, 'blog')
    await answers('/shopping', 404)
    await answers('/', 404)
    expect(await envoy.stat('cluster_manager.cds.update_rejected')).toBe(0)
    expect(await envoy.stat('listener_manager.lds.update_rejected')).toBe(0)
  })

  test('a removed file answers 404, and no request to the other route fails meanwhile', async () => {
    const { serving, answers, directory, url } = await world()
    await startEnvoy(serving, variant)
    await answers('/shop', 200, 'shop')
    await answers('/blog', 200, 'blog')
    const stop = startLoad(url('/blog'), 'blog')
    rmSync(join(directory, 'shop.yaml'))
    await answers('/shop', 404)
    writeFileSync(join(directory, 'new.yaml'), routeYaml('new', '{ respond: { code: 201 } }'))
    await answers('/other', 201)
    const { sent, wrong } = await stop()
    expect(wrong).toEqual([])
    expect(sent).toBeGreaterThan(20)
  })

  test('an Envoy goes on while the control plane is away, and follows it when it is back', async () => {
    const { serving, answers, directory, listener } = await world()
    await startEnvoy(serving, variant)
    await answers('/shop', 200, 'shop')
    serving.cli.child.kill('SIGTERM')
    expect((await serving.cli.finished).code).toBe(0)
    await answers('/shop', 200, 'shop')
    rmSync(join(directory, 'shop.yaml'))
    await serve(directory, listener, serving.xds.port)
    // An Envoy dials again after 10 s at most.
    await eventually(
      async () => {
        await answers('/shop', 404)
        return true
      },
      (gone) => gone,
      20_000,
    )
    await answers('/blog', 200, 'blog')
  })
})

test('SIGTERM ends it in time, also while Envoys are connected, and with exit code 0', async () => {
  const { serving, answers } = await world()
  await Promise.all([startEnvoy(serving, 'delta'), startEnvoy(serving, 'sotw')])
  await answers('/shop', 200, 'shop')
  const before = performance.now()
  serving.cli.child.kill('SIGTERM')
  const { code, err } = await serving.cli.finished
  expect(code).toBe(0)
  expect(performance.now() - before).toBeLessThan(3_000)
  expect(err.trim().split('\n').at(-1)).toContain('stopped')
})

test('an Envoy of another data plane gets nothing, and the log says so', async () => {
  const { serving } = await world()
  const { xds } = serving
  const envoy = await startTestEnvoy({ xds, variant: 'delta', dataPlane: 'other' })
  cleanups.push(envoy.stop)
  expect([...(await envoy.listeners()).keys()]).toEqual([])
  // Empty answers have come: an Envoy that gets none at all would be live, too, after a while.
  for (const kind of ['cluster_manager.cds', 'listener_manager.lds']) {
    expect(await envoy.stat(`${kind}.update_success`), kind).toBeGreaterThanOrEqual(1)
    expect(await envoy.stat(`${kind}.init_fetch_timeout`), kind).toBe(0)
  }
  await eventually(serving.cli.err, (log) => /warn .*--data-plane.* dataPlane=other/.test(log))
})
