import * as E from 'fp-ts/lib/Either.js'
import { expect, onTestFinished, test } from 'vitest'
import {
  askToForget,
  forgetAnswerMs,
  type ForgetAnswer,
  lookForRequestsMs,
  serveForgetRequests,
} from '../../src/adapters/k8s/forget-requests.js'
import { maxRetryAfterMs } from '../../src/adapters/k8s/forget-requests/serve.js'
import { objectIn } from '../../src/adapters/k8s/informers/index.js'
import { memoryLogger, virtualClock } from '../../src/adapters/memory/index.js'
import { lost, objectServer, statusOf } from '../support/k8s-object-server.js'
import { passTime } from '../support/virtual-time.js'

const namespace = 'edge'
const path = `/api/v1/namespaces/${namespace}/configmaps/edgewright-forget`

const aWorld = () => {
  const server = objectServer()
  const clock = virtualClock(0)
  const logger = memoryLogger()
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const forgotten: Array<string> = []
  const serve = (
    forget: (id: string) => Promise<ForgetAnswer> = (id) => {
      forgotten.push(id)
      return Promise.resolve('Forgotten')
    },
  ): Promise<void> =>
    serveForgetRequests(server.client, { namespace, forget, clock, logger }, abort.signal)
  const askUntil = (id: string, signal: AbortSignal) =>
    askToForget(server.client, { namespace, clock }, id, signal)()
  const ask = (id: string) => askUntil(id, abort.signal)
  const left = () => Object.keys(objectIn(server.at(path), 'data'))
  return { server, clock, logger, abort, forgotten, serve, ask, askUntil, left }
}

test('who asks is answered, and nothing is left behind', async () => {
  const { clock, forgotten, serve, ask, left } = aWorld()
  void serve()
  const ids = ['envoy-1', 'ns/pod/uid', 'é'.repeat(1_000)]
  const asked = Promise.all(ids.map(ask))
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await asked).toEqual(ids.map(() => E.right('Forgotten')))
  expect([...forgotten].sort()).toEqual([...ids].sort())
  expect(left()).toEqual([])
})

test.each<ForgetAnswer>([
  ...(['Connected', 'Unknown'] as const),
  { failure: 'the disk is full' },
  { warning: 'it may be about to come back' },
])('the answer %j comes as it is', async (answer) => {
  const { clock, serve, ask } = aWorld()
  void serve(() => Promise.resolve(answer))
  const asked = ask('envoy-1')
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await asked).toEqual(E.right(answer))
})

test('a control plane that fails says so', async () => {
  const { clock, serve, ask } = aWorld()
  void serve(() => Promise.reject(new Error('a bug')))
  const asked = ask('envoy-1')
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await asked).toEqual(E.right({ failure: 'Error: a bug' }))
})

test('without a control plane nobody waits for ever, and the next one does not do it after all', async () => {
  const { clock, forgotten, serve, ask, left } = aWorld()
  const asked = ask('envoy-1')
  await passTime(clock, forgetAnswerMs + 1_000)
  const answer = await asked
  expect(E.isLeft(answer) && answer.left.message).toContain('no control plane')
  expect(left()).toEqual([])
  void serve()
  await passTime(clock, lookForRequestsMs)
  expect(forgotten).toEqual([])
})

test('who does not wait takes the request back, unless it was answered or another has asked since', async () => {
  const { server, clock, askUntil, ask, left } = aWorld()
  const abort = new AbortController()
  const first = askUntil('envoy-1', abort.signal)
  await passTime(clock, 1_000)
  abort.abort()
  expect(await first).toMatchObject({ left: { message: 'the answer was not waited for' } })
  expect(left()).toEqual([])

  const again = new AbortController()
  const second = askUntil('envoy-1', again.signal)
  await passTime(clock, 1_000)
  void ask('envoy-1')
  await passTime(clock, 1_000)
  again.abort()
  await second
  expect(left()).toHaveLength(1)

  const last = new AbortController()
  const third = askUntil('envoy-2', last.signal)
  await passTime(clock, 1_000)
  const [key = '', text] =
    Object.entries(objectIn(server.at(path), 'data')).find(([, value]) =>
      String(value).includes('envoy-2'),
    ) ?? []
  const answered = JSON.stringify({ ...(JSON.parse(String(text)) as object), answer: 'Forgotten' })
  server.edit(path, { data: { [key]: answered } })
  last.abort()
  expect(await third).toEqual(E.right('Forgotten'))
  expect(left()).toHaveLength(1)
})

test('an answer to an earlier request is not taken for one to this, nor written over it', async () => {
  const { server, clock, serve, ask, left } = aWorld()
  const answers: Array<(answer: ForgetAnswer) => void> = []
  void serve(() => new Promise((resolve) => answers.push(resolve)))
  const first = ask('envoy-1')
  await passTime(clock, lookForRequestsMs)
  const second = ask('envoy-1')
  await passTime(clock, 100)
  answers[0]?.('Forgotten')
  await passTime(clock, 2 * lookForRequestsMs)
  expect(answers).toHaveLength(2)
  answers[1]?.('Unknown')
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await second).toEqual(E.right('Unknown'))
  await passTime(clock, forgetAnswerMs)
  expect(await first).toMatchObject({ _tag: 'Left' })
  expect(left()).toEqual([])
  expect(server.names(path.slice(0, path.lastIndexOf('/')))).toEqual(['edgewright-forget'])
})

test('an answer that could not be written is written later, and nothing is forgotten twice', async () => {
  const { server, clock, logger, serve, forgotten, ask } = aWorld()
  const asked = ask('envoy-1')
  await passTime(clock, 100)
  let lostOnes = 0
  server.meddle = ({ method }) =>
    method === 'PATCH' && (lostOnes += 1) <= 2 ? lost(lostOnes === 2) : undefined
  void serve()
  await passTime(clock, 5 * lookForRequestsMs)
  expect(await asked).toEqual(E.right('Forgotten'))
  expect(forgotten).toEqual(['envoy-1'])
  expect(logger.entries()).toHaveLength(1)
})

test('who may not ask is told why at once', async () => {
  const { server, ask } = aWorld()
  server.meddle = () => ({ reply: statusOf(403, 'Forbidden', 'no rights') })
  expect(await ask('envoy-1')).toMatchObject({ left: { _tag: 'Denied' } })
})

test('a request of which nobody knows whether it was written is taken back at once', async () => {
  const { server, ask, left } = aWorld()
  server.edit(path, { data: {} })
  let patches = 0
  server.meddle = ({ method }) =>
    method === 'PATCH' && (patches += 1) === 1 ? lost(true) : undefined
  expect(await ask('envoy-1')).toMatchObject({ left: { _tag: 'Unreachable' } })
  expect(patches).toBe(2)
  expect(left()).toEqual([])
})

test('only the one that counts answers, and another leaves everything as it is', async () => {
  const { server, clock, forgotten, abort, ask, left } = aWorld()
  const serveAs = (name: string, isHeld: () => boolean): void => {
    const forget = (id: string): Promise<ForgetAnswer> => {
      forgotten.push(`${name} ${id}`)
      return Promise.resolve('Forgotten')
    }
    void serveForgetRequests(server.client, { namespace, forget, isHeld, clock }, abort.signal)
  }
  let isFirst = false
  serveAs('first', () => isFirst)
  server.edit(path, { data: { broken: '{' } })
  const asked = ask('envoy-1')
  await passTime(clock, 3 * lookForRequestsMs)
  expect([forgotten, left().length]).toEqual([[], 2])
  serveAs('second', () => !isFirst)
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await asked).toEqual(E.right('Forgotten'))
  isFirst = true
  const next = ask('envoy-2')
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await next).toEqual(E.right('Forgotten'))
  expect(forgotten).toEqual(['second envoy-1', 'first envoy-2'])
})

test('who counts no more when the requests are there answers none of them', async () => {
  const { server, clock, forgotten, abort, ask } = aWorld()
  let isHeld = true
  server.meddle = ({ method }) => {
    if (method === 'GET') isHeld = false
    return undefined
  }
  const forget = (id: string): Promise<ForgetAnswer> => {
    forgotten.push(id)
    return Promise.resolve('Forgotten')
  }
  const asked = ask('envoy-1')
  await passTime(clock, 100)
  isHeld = true
  const ports = { namespace, forget, isHeld: () => isHeld, clock }
  void serveForgetRequests(server.client, ports, abort.signal)
  await passTime(clock, forgetAnswerMs + 1_000)
  expect(await asked).toMatchObject({ _tag: 'Left' })
  expect(forgotten).toEqual([])
})

test('what is no request, and answers that nobody fetches, are removed', async () => {
  const { server, clock, serve, left } = aWorld()
  const data = {
    broken: '{',
    empty: '{"id":"","nonce":"n"}',
    old: JSON.stringify({ id: 'x', nonce: 'n', answer: 'Forgotten' }),
  }
  server.edit(path, { data })
  void serve()
  await passTime(clock, lookForRequestsMs)
  expect(left()).toEqual(['old'])
  await passTime(clock, 130_000, 1_000)
  expect(left()).toEqual([])
})

test('a server that wants to be left alone is, but not for ever', async () => {
  const { server, clock, serve } = aWorld()
  const times: Array<number> = []
  server.meddle = () => {
    times.push(clock.nowMs())
    return { reply: statusOf(429, '', 'busy', 3_600_000) }
  }
  void serve()
  await passTime(clock, 25_000)
  expect(times).toEqual([0, maxRetryAfterMs, 2 * maxRetryAfterMs])
})

test('an asker leaves the server alone for as long as it wants, but not for ever', async () => {
  const { server, clock, ask } = aWorld()
  const times: Array<number> = []
  server.meddle = ({ method }) => {
    if (method !== 'GET') return undefined
    times.push(clock.nowMs())
    return { reply: statusOf(429, '', 'busy', 3_600_000) }
  }
  void ask('envoy-1')
  await passTime(clock, 12_000)
  expect(times).toEqual([500, 5_500, 10_500])
})

test('a reply that is no ConfigMap says nothing of what is asked, and nothing is carried out twice', async () => {
  const { server, clock, forgotten, serve, ask, logger } = aWorld()
  server.meddle = ({ method, body }) =>
    method === 'PATCH' && JSON.stringify(body).includes('Forgotten')
      ? { reply: statusOf(500) }
      : undefined
  const asked = ask('envoy-1')
  void serve()
  await passTime(clock, 2 * lookForRequestsMs)
  expect(forgotten).toEqual(['envoy-1'])
  server.meddle = () => ({ reply: { status: 200, body: {}, retryAfterMs: undefined } })
  await passTime(clock, 2 * lookForRequestsMs)
  expect(JSON.stringify(logger.entries())).toContain('something else was sent')
  server.meddle = () => undefined
  await passTime(clock, 2 * lookForRequestsMs)
  expect(await asked).toEqual(E.right('Forgotten'))
  expect(forgotten).toEqual(['envoy-1'])
})
