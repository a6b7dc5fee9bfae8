import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type CliProcess, filesIn, installWith, routeYaml, spawnCli } from '../support/cli.js'
import { clusterType, listenerType } from '../../src/core/type-url.js'
import { eventually } from '../support/envoy.js'
import { rawAdsClient } from '../support/raw-ads-client.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const run = (...parameters: Parameters<typeof spawnCli>): CliProcess => {
  const cli = spawnCli(...parameters)
  cleanups.push(cli.dispose)
  return cli
}

const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const { directory, dispose } = filesIn(files)
  cleanups.push(dispose)
  return directory
}

const routes = { 'a.yaml': routeYaml('a', '{ respond: { code: 200 } }') }

describe('as a process', () => {
  test('the exit code is that of the command', async () => {
    expect((await run(['--version']).finished).code).toBe(0)
    expect((await run(['check', '/no/such/directory']).finished).code).toBe(1)
    expect((await run(['xyzzy']).finished).code).toBe(2)
  })

  test('a reader that goes away early is no crash', async () => {
    const cli = run(['bootstrap', '--id', 'x'.repeat(100_000)])
    cli.child.stdout?.destroy()
    expect(await cli.finished).toMatchObject({ code: 0, err: '' })
  })
})

describe('serve', () => {
  const serve = async (
    ...options: ReadonlyArray<string>
  ): Promise<CliProcess & { readonly routes: string }> => {
    const directory = directoryWith(routes)
    const cli = run(['serve', '--routes', directory, '--xds', '127.0.0.1:0', ...options])
    await eventually(cli.err, (text) => text.includes('published'))
    return { ...cli, routes: directory }
  }

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s ends it in good order',
    async (signal) => {
      const cli = await serve()
      cli.child.kill(signal)
      const { code, out, err } = await cli.finished
      expect({ code, out }).toEqual({ code: 0, out: '' })
      expect(err).toContain('stopped')
    },
  )

  test('its log is readable by programs too', async () => {
    const cli = await serve('--log-format', 'json')
    cli.child.kill('SIGTERM')
    const { err } = await cli.finished
    const entries = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string })
    expect(entries.map(({ message }) => message)).toEqual([
      'listening for Envoys',
      'published',
      'stopped',
    ])
  })

  test('it goes on where nobody reads its log', async () => {
    const cli = await serve()
    cli.child.stderr?.destroy()
    for (const name of ['b', 'c']) {
      writeFileSync(join(cli.routes, `${name}.yaml`), routeYaml(name, '{ respond: { code: 200 } }'))
      // Its log cannot be read any more: this is time enough for it to be written in vain.
      expect(await Promise.race([cli.finished, sleep(1_000)])).toBe(undefined)
    }
    cli.child.kill('SIGTERM')
    expect((await cli.finished).code).toBe(0)
  })

  test('a directory that is not there is said, and ends it', async () => {
    const cli = run(['serve', '--routes', '/no/such/directory', '--xds', '127.0.0.1:0'])
    const { code, err } = await cli.finished
    expect(code).toBe(1)
    expect(err).toMatch(
      /^edgewright serve: the directory \/no\/such\/directory cannot be read.*\n$/,
    )
  })

  test('two Envoys with one node id are a warning that says what to do', async () => {
    const cli = await serve()
    const port = Number(/xds=127\.0\.0\.1:(\d+)/.exec(cli.err())?.[1])
    const twins = [rawAdsClient(port), rawAdsClient(port)]
    for (const client of twins) {
      cleanups.push(client.close)
      client.delta().send({ node: { id: 'twin', cluster: 'edge-envoy' }, typeUrl: clusterType })
    }
    const log = await eventually(cli.err, (text) => text.includes('node id'))
    expect(log).toMatch(/ warn .*give each its own id.* node=twin$/m)
  })

  test('the log says when an Envoy takes again what it has refused', async () => {
    const cli = await serve()
    const port = Number(/xds=127\.0\.0\.1:(\d+)/.exec(cli.err())?.[1])
    const client = rawAdsClient(port)
    cleanups.push(client.close)
    const stream = client.delta()
    stream.send({ node: { id: 'picky', cluster: 'edge-envoy' }, typeUrl: listenerType })
    const { nonce = '' } = await stream.next()
    const errorDetail = { code: 13, message: 'cannot bind\n' }
    stream.send({ typeUrl: listenerType, responseNonce: nonce, errorDetail })
    const refused = await eventually(cli.err, (text) => text.includes('last good form'))
    expect(refused).toMatch(
      /last good form.* node=picky type=Listener name=http error="cannot bind"$/m,
    )
    const again = await stream.next()
    stream.send({ typeUrl: listenerType, responseNonce: again.nonce ?? '' })
    await eventually(cli.err, (text) => /info .*takes this again.* node=picky /.test(text))
  })

  test('a directory that goes away later does not end it, and is followed when it is back', async () => {
    const cli = await serve()
    rmSync(cli.routes, { recursive: true })
    await eventually(cli.err, (text) => text.includes('cannot be read'))
    mkdirSync(cli.routes)
    const other = '{ matches: [{ path: { prefix: /b } }], respond: { code: 201 } }'
    for (const [name, text] of Object.entries({ ...routes, 'b.yaml': routeYaml('b', other) }))
      writeFileSync(join(cli.routes, name), text)
    await eventually(cli.err, (text) => text.includes('routes=2'))
    cli.child.kill('SIGTERM')
    expect((await cli.finished).code).toBe(0)
  })

  test('a port that is taken is said, and ends it', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const cli = run(['serve', '--routes', directoryWith(routes), '--xds', `127.0.0.1:${port}`])
    const { code, err } = await cli.finished
    expect(code).toBe(1)
    expect(err).toContain(`127.0.0.1:${port}`)
    expect(err).not.toMatch(/^ +at /m)
  })
})

describe('where an optional package is missing', () => {
  const installed = (...packages: ReadonlyArray<string>) => installWith(directoryWith({}), packages)
  const core = ['fp-ts', 'io-ts', 're2js', '@bufbuild']

  test('a command that needs it names it, and how to install it', async () => {
    const cli = run(['serve', '--routes', '.'], installed(...core))
    const { code, err } = await cli.finished
    expect(code).toBe(1)
    expect(err).toContain('npm install @grpc/grpc-js@')
    expect(err).toContain('npm install yaml@')
    expect(err).not.toMatch(/^ +at /m)
  })

  test('a command that does not need it works', async () => {
    expect((await run(['bootstrap'], installed(...core)).finished).code).toBe(0)
    const withYaml = installed(...core, 'yaml')
    expect((await run(['check', directoryWith(routes)], withYaml).finished).code).toBe(0)
  })
})
