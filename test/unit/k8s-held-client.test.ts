import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { type ApiClient, type ApiRequest, whileHeld } from '../../src/adapters/k8s/index.js'

const reply = E.right({ status: 200, body: {}, retryAfterMs: undefined })

test('who does not hold the lease reads, and writes nothing, also what was asked for before', async () => {
  const sent: Array<string> = []
  const client: ApiClient = {
    send: ({ method }) => {
      return () => {
        sent.push(method)
        return Promise.resolve(reply)
      }
    },
    stream: () => () => Promise.resolve(reply),
  }
  let isHeld = true
  const held = whileHeld(client, () => (isHeld ? 1_000 : 0))
  const ask = (method: ApiRequest['method']) =>
    held.send({ method, path: '/', deadlineMs: 1 }, new AbortController().signal)
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  const early = ask('PATCH')
  for (const method of methods) expect(await ask(method)()).toEqual(reply)
  isHeld = false
  for (const method of methods) await ask(method)()
  expect(JSON.stringify(await early())).toContain('does not hold the Lease')
  expect(sent).toEqual([...methods, 'GET'])
})

test("a write is over when the lease may be another's, and a read takes as long as it may", async () => {
  const deadlines: Array<string> = []
  const client: ApiClient = {
    send: ({ method, deadlineMs }) => {
      deadlines.push(`${method} ${deadlineMs}`)
      return () => Promise.resolve(reply)
    },
    stream: () => () => Promise.resolve(reply),
  }
  let leftMs = 60_000.5
  const held = whileHeld(client, () => leftMs)
  const ask = (method: ApiRequest['method']) =>
    held.send({ method, path: '/', deadlineMs: 10_000 }, new AbortController().signal)
  await ask('PATCH')()
  const early = ask('PATCH')
  leftMs = 2_500.5
  await early()
  await ask('GET')()
  leftMs = 0.5
  await ask('PATCH')()
  expect(deadlines).toEqual(['PATCH 10000', 'PATCH 2500', 'GET 10000'])
})

test('once it has ended no write is sent, and none that nobody waits for is under way', async () => {
  const answers: Array<() => void> = []
  const client: ApiClient = {
    send: () => () => new Promise((resolve) => answers.push(() => resolve(reply))),
    stream: () => () => Promise.resolve(reply),
  }
  const held = whileHeld(client, () => 1_000)
  const ask = (method: ApiRequest['method']) =>
    held.send({ method, path: '/', deadlineMs: 1 }, new AbortController().signal)()
  void ask('PATCH')
  void ask('GET')
  void ask('DELETE')
  let hasEnded = false
  const ending = held.end().then(() => (hasEnded = true))
  expect(JSON.stringify(await ask('PATCH'))).toContain('not sent: this control plane ends')
  const [patch, , remove] = answers
  patch?.()
  await new Promise(setImmediate)
  expect(hasEnded).toBe(false)
  remove?.()
  await ending
  expect(answers).toHaveLength(3)
})
