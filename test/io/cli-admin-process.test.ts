import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { Operator } from '../../src/host/operator.js'
import {
  builtMain,
  type CliProcess,
  filesIn,
  type Finished,
  routeYaml,
  spawnCli,
} from '../support/cli.js'
import { eventually, request } from '../support/envoy.js'
import { aNode, anExplanation, fakeOperator, startAdmin } from '../support/fake-operator.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const run = (argv: ReadonlyArray<string>): CliProcess => {
  const cli = spawnCli(argv)
  cleanups.push(cli.dispose)
  return cli
}

/** Runs the program with a pipe for its standard input; it stays open where `input` is `undefined`. */
const runPiped = (
  argv: ReadonlyArray<string>,
  input: string | undefined,
): { readonly finished: Promise<Finished>; readonly out: () => string; kill: () => void } => {
  const child = spawn(process.execPath, [builtMain, ...argv], { stdio: 'pipe' })
  cleanups.push(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (err += chunk))
  child.stdin.on('error', () => undefined)
  if (input !== undefined) child.stdin.end(input)
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => resolve({ code: code ?? undefined, out, err }))
  })
  return { finished, out: () => out, kill: () => void child.kill('SIGINT') }
}

const adminOf = async (operator: Partial<Operator>): Promise<ReadonlyArray<string>> => {
  const { admin, stop } = await startAdmin(fakeOperator(operator))
  cleanups.push(stop)
  return ['--admin', admin]
}

describe('the commands as processes', () => {
  test('explain and nodes print and end, with the exit codes of what they found', async () => {
    const owed = [aNode({ id: 'envoy/1 ü' })]
    const admin = await adminOf({ explain: () => [anExplanation({ owed })], nodes: () => owed })
    const [explained, listed, missing] = await Promise.all([
      run(['explain', 'shop/checkout', ...admin]).finished,
      run(['nodes', ...admin]).finished,
      run(['nodes', '--admin', '127.0.0.1:1']).finished,
    ])
    expect(explained).toMatchObject({ code: 0, err: '' })
    expect(explained.out).toContain('waits for 1 Envoy')
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect(listed.out).toContain('"envoy/1 ü"')
    expect(missing).toMatchObject({ code: 1, out: '' })
    expect(missing.err).toContain('no control plane listens')
  })

  const breaking = async () => {
    const broken: Array<string> = []
    const admin = await adminOf({
      explain: () => [anExplanation({ owed: [aNode()] })],
      breakGlass: ({ name }) => {
        broken.push(name)
        return Promise.resolve({
          _tag: 'Broken',
          unconfirmed: ['envoy-1'],
          waitedFor: { _tag: 'Owed', nodes: ['envoy-1'], nodeCount: 1 },
        })
      },
    })
    return { argv: ['break-glass', 'shop/checkout', ...admin], broken }
  }

  test('break-glass takes the name from a pipe', async () => {
    const { argv, broken } = await breaking()
    const { code, out } = await runPiped(argv, 'shop/checkout\nmore\n').finished
    expect({ code, broken }).toEqual({ code: 0, broken: ['checkout'] })
    expect(out).toContain('1 Envoy had not confirmed: envoy-1')
  })

  test('break-glass does nothing without input, or with another name', async () => {
    const { argv, broken } = await breaking()
    const ended = await Promise.all([
      run(argv).finished,
      runPiped(argv, '').finished,
      runPiped(argv, 'shop/other\n').finished,
    ])
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1])
    for (const { err } of ended) expect(err).toContain('nothing is done')
    expect(broken).toEqual([])
  })

  test('break-glass that waits for the name ends with SIGINT, and does nothing', async () => {
    const { argv, broken } = await breaking()
    const { finished, out, kill } = runPiped(argv, undefined)
    await eventually(out, (text) => text.includes('Type the name'))
    kill()
    const { code, err } = await finished
    expect({ code, broken }).toEqual({ code: 1, broken: [] })
    expect(err).toContain('nothing is done')
  })
})

describe('serve', () => {
  const routes = (): string => {
    const { directory, dispose } = filesIn({
      'a.yaml': routeYaml('a', '{ respond: { code: 200 } }'),
    })
    cleanups.push(dispose)
    return directory
  }

  const serve = (...options: ReadonlyArray<string>): CliProcess =>
    run(['serve', '--routes', routes(), '--xds', '127.0.0.1:0', ...options])

  const adminPort = async (cli: CliProcess): Promise<number> => {
    const log = await eventually(cli.err, (text) => text.includes('published'))
    return Number(/ admin=127\.0\.0\.1:(\d+)/.exec(log)?.[1])
  }

  test('answers to operators on the port that its log names', async () => {
    const port = await adminPort(serve('--admin', '127.0.0.1:0'))
    const { headers, body } = await request(`http://127.0.0.1:${port}/v1/nodes`)
    expect(headers['content-type']).toBe('application/json')
    expect(JSON.parse(body)).toMatchObject({ version: 1 })
  })

  test('ends in good order while clients hold connections', async () => {
    const cli = serve('--admin', '127.0.0.1:0')
    const port = await adminPort(cli)
    for (const bytes of [
      '',
      'GET /v1',
      'POST /v1/nodes/a/forget HTTP/1.1\r\nHost: localhost\r\n',
    ]) {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
      socket.on('error', () => undefined)
      cleanups.push(() => void socket.destroy())
    }
    expect((await request(`http://127.0.0.1:${port}/`)).status).toBe(404)
    cli.child.kill('SIGTERM')
    const beganMs = performance.now()
    const { code, err } = await cli.finished
    expect(code).toBe(0)
    expect(err).toContain('stopped')
    expect(performance.now() - beganMs).toBeLessThan(3_000)
  })

  test('has no endpoint where it is off', async () => {
    const cli = serve('--admin', 'off')
    const log = await eventually(cli.err, (text) => text.includes('published'))
    expect(log).toContain('listening for Envoys')
    expect(log).not.toContain('admin=')
  })

  test('says that the port is in use, and what to do, before any Envoy can connect', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { code, err } = await serve('--admin', `127.0.0.1:${port}`).finished
    expect(code).toBe(1)
    expect(err).toContain(`edgewright serve: cannot listen for operators on 127.0.0.1:${port}`)
    expect(err).toContain('the port is in use')
    expect(err).toContain('--admin HOST:PORT')
    expect(err).toContain('--admin off')
    expect(err).not.toMatch(/^ +at /m)
    expect(err).not.toContain('listening for Envoys')
  })

  test.each([
    [['--admin', '18001'], 'should be HOST:PORT'],
    [['--forget-node-after', '3d'], 'unknown unit'],
    [['--forget-node-after', '0s'], 'nothing would ever be waited for'],
    [['--roster', ''], '--roster needs a value'],
  ])('%j is wrong usage', async (options, message) => {
    const { code, err } = await serve(...options).finished
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})
