import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiFailure, ApiReply } from '../../src/adapters/k8s/api.js'
import {
  connectKubernetes,
  type KubeConfig,
  type KubernetesClient,
} from '../../src/adapters/k8s/client/index.js'
import { credentialsMs, minRenewalMs, tokenFileMs } from '../../src/adapters/k8s/client/limits.js'
import { type Clock, systemClock } from '../../src/ports/clock.js'
import { eventually } from '../support/envoy.js'
import {
  type ConfigParts,
  connectTo,
  kubeConfigOf,
  startHttpsServer,
  temporaryDirectory,
  testCertificates,
} from '../support/k8s-https-server.js'

const forever = new AbortController().signal

const send = (client: KubernetesClient, deadlineMs = 10_000) =>
  client.send({ method: 'GET', path: '/api', deadlineMs }, forever)()

const reply = (status: number, body: unknown): E.Either<ApiFailure, ApiReply> =>
  E.right({ status, body, retryAfterMs: undefined })

const refused = (sent: RegExp) =>
  E.right({
    status: 401,
    retryAfterMs: undefined,
    body: { kind: 'Status', code: 401, message: expect.stringMatching(sent) as unknown },
  })

const failure = (message: RegExp) =>
  E.left({ _tag: 'Unreachable', message: expect.stringMatching(message) as unknown })

/** The time of the machine, which can be set forward. */
const skippableClock = (): Clock & { readonly skip: (ms: number) => void } => {
  let skippedMs = 0
  return {
    nowMs: () => systemClock.nowMs() + skippedMs,
    after: systemClock.after,
    skip: (ms) => (skippedMs += ms),
  }
}

/** Takes the authorizations of `good`, and says 401 to all others; its answer is what it was sent. */
const startGuarded = async (...good: ReadonlyArray<string>) => {
  const asked: Array<string> = []
  const taken = new Set(good)
  const server = await startHttpsServer((request, answer) => {
    const sent = request.headers.authorization ?? ''
    asked.push(sent)
    const refusal = { kind: 'Status', code: 401, message: 'Unauthorized' }
    if (taken.has(sent)) answer.end(JSON.stringify(sent))
    else answer.writeHead(401).end(JSON.stringify(refusal))
  })
  return { ...server, asked, taken }
}

const fileUser = (tokenFile: string): ConfigParts => ({
  user: { tokenFile },
})

test('a name and a password are sent, and so is whom to act as', async () => {
  const server = await startHttpsServer((asked, answer) =>
    answer.end(JSON.stringify(asked.headers)),
  )
  const user = { username: 'ann', password: 'pässword', as: 'bob' }
  expect(await send(await connectTo(server, { user }))).toMatchObject(
    reply(200, {
      authorization: `Basic ${Buffer.from('ann:pässword').toString('base64')}`,
      'impersonate-user': 'bob',
    }),
  )
})

test('a token file is read again after a few seconds, and not before', async () => {
  const server = await startGuarded('Bearer one', 'Bearer two')
  const tokenFile = join(temporaryDirectory(), 'token')
  writeFileSync(tokenFile, 'one\n')
  const clock = skippableClock()
  const client = await connectTo(server, fileUser(tokenFile), { clock })
  expect(await send(client)).toEqual(reply(200, 'Bearer one'))
  writeFileSync(tokenFile, 'two\n')
  expect(await send(client)).toEqual(reply(200, 'Bearer one'))
  clock.skip(tokenFileMs)
  expect(await send(client)).toEqual(reply(200, 'Bearer two'))
  expect(server.connections).toHaveLength(1)
})

test('a token file is read at once when its token is refused, and the request is sent once more', async () => {
  const server = await startGuarded('Bearer one')
  const tokenFile = join(temporaryDirectory(), 'token')
  writeFileSync(tokenFile, 'one')
  const client = await connectTo(server, fileUser(tokenFile))
  await send(client)
  writeFileSync(tokenFile, 'two')
  server.taken.clear()
  server.taken.add('Bearer two')
  const stream = client.stream({ path: '/s', silenceMs: 10_000 }, () => undefined, forever)
  expect(await Promise.all([send(client), send(client), stream()])).toEqual([
    reply(200, 'Bearer two'),
    reply(200, 'Bearer two'),
    reply(200, undefined),
  ])
  expect(server.asked.slice(1).sort()).toEqual([
    ...['Bearer one', 'Bearer one', 'Bearer one'],
    ...['Bearer two', 'Bearer two', 'Bearer two'],
  ])
})

test('a write whose token is refused is sent once more, too: it did nothing', async () => {
  const server = await startGuarded('Bearer two')
  const tokenFile = join(temporaryDirectory(), 'token')
  writeFileSync(tokenFile, 'two')
  const client = await connectTo(server, fileUser(tokenFile))
  await send(client)
  writeFileSync(tokenFile, 'three')
  server.taken.clear()
  server.taken.add('Bearer three')
  const post = { method: 'POST', path: '/api', body: {}, deadlineMs: 10_000 } as const
  expect(await client.send(post, forever)()).toEqual(reply(200, 'Bearer three'))
})

test('a request is not sent again with what was refused, and the refusal says what that was', async () => {
  const server = await startGuarded()
  const tokenFile = join(temporaryDirectory(), 'token')
  writeFileSync(tokenFile, 'one')
  const client = await connectTo(server, fileUser(tokenFile))
  expect(await send(client)).toEqual(refused(/^Unauthorized \(sent: the token in \/\S+token\)$/))
  expect(server.asked).toEqual(['Bearer one'])
  writeFileSync(tokenFile, 'two')
  expect(await send(client)).toEqual(refused(/sent: the token in/))
  expect(server.asked).toEqual(['Bearer one', 'Bearer one', 'Bearer two'])
})

test('while a token file cannot be read the last token is used, and a refusal says why', async () => {
  const server = await startGuarded('Bearer one')
  const tokenFile = join(temporaryDirectory(), 'token')
  const clock = skippableClock()
  const client = await connectTo(server, fileUser(tokenFile), { clock })
  expect(await send(client)).toEqual(
    failure(/cannot read the token in \S+: there is no such file$/),
  )
  writeFileSync(tokenFile, 'one')
  expect(await send(client)).toEqual(reply(200, 'Bearer one'))
  rmSync(tokenFile)
  clock.skip(tokenFileMs)
  expect(await send(client)).toEqual(reply(200, 'Bearer one'))
  writeFileSync(tokenFile, '\n')
  server.taken.clear()
  expect(await send(client)).toEqual(refused(/; newer ones are not to be had: .* is empty\)$/))
})

test.each<[string, ConfigParts, RegExp]>([
  ['a user with nothing', { user: {} }, /sent: no credentials, since user "u" has none/],
  ['a token', { user: { token: 'bad' } }, /sent: the token of user "u"\)/],
])('a refusal of %s says what was sent', async (_, parts, sent) => {
  expect(await send(await connectTo(await startGuarded(), parts))).toEqual(refused(sent))
})

test('of a user with nothing who may not do something it is said that nothing was sent', async () => {
  const server = await startHttpsServer((_, answer) =>
    answer.writeHead(403).end('{"message":"system:anonymous may not"}'),
  )
  expect(await send(await connectTo(server, { user: {} }))).toMatchObject(
    reply(403, {
      message: 'system:anonymous may not (sent: no credentials, since user "u" has none)',
    }),
  )
  expect(await send(await connectTo(server, { user: { token: 't' } }))).toEqual(
    reply(403, { message: 'system:anonymous may not' }),
  )
})

/** A program that prints `prefix-COUNT` as a token, where it was run COUNT times. */
const program = (directory: string, prefix: string, delaySeconds = 0): ConfigParts => {
  const runs = join(directory, 'runs')
  const status = `{"token":"${prefix}-'$(wc -c < ${runs} | tr -d ' ')'"}`
  const script = `sleep ${delaySeconds}; printf x >> ${runs}; echo '{"kind":"ExecCredential","status":${status}}'`
  return { user: { exec: { command: 'sh', args: ['-c', script] } } }
}

test('a program is asked once for many requests, and again after a refusal, but not all the time', async () => {
  const directory = temporaryDirectory()
  const server = await startGuarded('Bearer t-1', 'Bearer t-2')
  const clock = skippableClock()
  const client = await connectTo(server, program(directory, 't'), { clock })
  const first = await Promise.all(Array.from({ length: 10 }, () => send(client)))
  expect(first).toEqual(first.map(() => reply(200, 'Bearer t-1')))
  server.taken.delete('Bearer t-1')
  clock.skip(minRenewalMs)
  expect(await send(client)).toEqual(reply(200, 'Bearer t-2'))
  server.taken.delete('Bearer t-2')
  server.taken.add('Bearer t-3')
  expect(await send(client)).toEqual(refused(/credentials of user "u" that sh prints/))
  expect(readFileSync(join(directory, 'runs'), 'utf8')).toBe('xx')
  clock.skip(credentialsMs)
  expect(await send(client)).toEqual(reply(200, 'Bearer t-3'))
})

test('what was asked for before a refusal is no answer to it', async () => {
  let refuse = (): void => undefined
  const server = await startHttpsServer((asked, answer) => {
    const { authorization } = asked.headers
    if (authorization === 'two') return void answer.end('"two"')
    refuse = () => void answer.writeHead(401).end('{}')
  })
  const given: Array<Promise<string>> = [Promise.resolve('one')]
  const kubeConfig: KubeConfig = {
    ...kubeConfigOf({ name: 'c', server: server.url, caFile: server.certificates.ca }),
    getCurrentUser: () => ({ name: 'u' }),
    applyToHTTPSOptions: async (options) => {
      options.headers = { Authorization: await (given.shift() ?? 'none') }
    },
  }
  const clock = skippableClock()
  const client = connectKubernetes({ kubeConfig, clock })
  onTestFinished(client.close)
  const held = send(client)
  await eventually(server.open, (open) => open === 1)
  let answer: (token: string) => void = () => undefined
  given.push(new Promise((resolve) => (answer = resolve)), Promise.resolve('two'))
  clock.skip(credentialsMs)
  const another = send(client, 500)
  await eventually(
    () => given.length,
    (left) => left === 1,
  )
  refuse()
  // Nobody but the client can tell when it has heard that; were this too short, the test would show less.
  await sleep(100)
  answer('one')
  expect(await held).toEqual(reply(200, 'two'))
  expect(await another).toMatchObject({ _tag: 'Left' })
})

test('what keeps a program from giving credentials is said', async () => {
  const server = await startGuarded()
  const fails = { command: 'sh', args: ['-c', 'echo no ticket >&2; exit 3'] }
  expect(await send(await connectTo(server, { user: { exec: fails } }))).toEqual(
    failure(/cannot get the credentials of user "u" that sh prints: no ticket$/),
  )
  const lacks = { command: '/nowhere/login' }
  expect(await send(await connectTo(server, { user: { exec: lacks } }))).toEqual(
    failure(/that \/nowhere\/login prints: .*ENOENT/),
  )
})

test('the deadline of a request holds for a program, too', async () => {
  const directory = temporaryDirectory()
  const server = await startGuarded('Bearer t-1')
  const client = await connectTo(server, program(directory, 't', 0.3))
  expect(await send(client, 50)).toMatchObject(E.left({ _tag: 'TimedOut' }))
  await eventually(
    () => existsSync(join(directory, 'runs')),
    (isThere) => isThere,
  )
  expect(await send(client)).toEqual(reply(200, 'Bearer t-1'))
  expect(readFileSync(join(directory, 'runs'), 'utf8')).toBe('x')
})

test('a client certificate is shown, and a new one makes new connections', async () => {
  const { ca, admin, controllerManager } = await testCertificates()
  const server = await startHttpsServer(
    ({ socket }, answer) => {
      const isTls = socket instanceof TLSSocket
      answer.end(JSON.stringify(isTls ? socket.getPeerCertificate().subject.CN : undefined))
    },
    { ca: readFileSync(ca), requestCert: true, rejectUnauthorized: true },
  )
  const directory = temporaryDirectory()
  const [certFile, keyFile] = [join(directory, 'crt'), join(directory, 'key')]
  const install = ({ certificate, key }: typeof admin): void => {
    copyFileSync(certificate, certFile)
    copyFileSync(key, keyFile)
  }
  install(admin)
  const clock = skippableClock()
  const client = await connectTo(
    server,
    { user: { 'client-certificate': certFile, 'client-key': keyFile } },
    { clock },
  )
  expect(await send(client)).toEqual(reply(200, 'admin'))
  install(controllerManager)
  expect(await send(client)).toEqual(reply(200, 'admin'))
  clock.skip(credentialsMs)
  expect(await send(client)).toEqual(reply(200, 'system:kube-controller-manager'))
  await eventually(server.open, (count) => count === 1)
  expect(server.connections).toHaveLength(2)

  expect(await send(await connectTo(server, { user: {} }))).toEqual(
    failure(/it refuses our certificate|the connection was reset/),
  )
})
