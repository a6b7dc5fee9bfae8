import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import type { ApiReply } from '../../src/adapters/k8s/api.js'
import { walkPages } from '../../src/adapters/k8s/objects/walk-pages.js'

const reply = (status: number, next?: string): ApiReply => ({
  status,
  body: { metadata: { ...(next !== undefined && { continue: next }) }, items: [] },
  retryAfterMs: undefined,
})

interface Walked {
  readonly result: E.Either<string, void>
  /** What has happened, in order: what was asked for, taken in, and forgotten. */
  readonly log: ReadonlyArray<string>
}

/** Walks through what a server replies, one after the other; `stopAt` is the status after which enough is known. */
const walk = async (
  replies: ReadonlyArray<E.Either<string, ApiReply>>,
  stopAt = 0,
): Promise<Walked> => {
  const log: Array<string> = []
  let asked = 0
  const result = await walkPages<string>({
    ask: async (position) => {
      log.push(`ask ${position ?? 'from the first'}`)
      return Promise.resolve(replies[asked++] ?? E.left('asked too often'))
    },
    take: ({ status }) => {
      log.push(`take ${status}`)
      return status >= 400 ? E.left(`refused ${status}`) : E.right(status !== stopAt)
    },
    onRestart: () => log.push('restart'),
    maxRestarts: 2,
  })
  return { result, log }
}

const page = (next?: string): E.Either<string, ApiReply> => E.right(reply(200, next))
const expired = E.right(reply(410))

test('each page is asked for where the one before has ended, until none follows', async () => {
  expect(await walk([page('b'), page('c'), page()])).toEqual({
    result: E.right(undefined),
    log: ['ask from the first', 'take 200', 'ask b', 'take 200', 'ask c', 'take 200'],
  })
})

test('a list whose rest has expired comes again from its first page, and what was taken in is to be forgotten', async () => {
  expect(await walk([page('b'), expired, page('d'), page()])).toEqual({
    result: E.right(undefined),
    log: ['ask from the first', 'take 200', 'ask b', 'restart']
      .concat(['ask from the first', 'take 200'])
      .concat(['ask d', 'take 200']),
  })
})

test('a list that expires again and again is taken for what the server says in the end', async () => {
  const { result, log } = await walk([page('b'), expired, page('c'), expired, expired])
  expect(result).toEqual(E.left('refused 410'))
  expect(log.filter((each) => each === 'restart')).toHaveLength(2)
  expect(log.at(-1)).toBe('take 410')
})

test('nothing more is asked for when enough is known, when one is refused, or when none comes', async () => {
  const enough = await walk([E.right(reply(204, 'b')), page()], 204)
  expect(enough).toEqual({ result: E.right(undefined), log: ['ask from the first', 'take 204'] })
  const refused = await walk([page('b'), E.right(reply(403, 'c')), page()])
  expect(refused.result).toEqual(E.left('refused 403'))
  expect(refused.log.at(-1)).toBe('take 403')
  const none = await walk([page('b'), E.left('no answer'), page()])
  expect(none.result).toEqual(E.left('no answer'))
  expect(none.log.at(-1)).toBe('ask b')
})
