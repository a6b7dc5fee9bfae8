import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { checkDemo, type Stage } from '../../src/host/cli/demo/check.js'
import { filesIn } from '../support/cli.js'

const cleanups: Array<() => void> = []
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()))

/**
 * What a proxy says: status and body, by path, by whether the route of shop is removed, and by
 * turn.
 */
type Script = (path: string, removed: boolean, turn: number) => readonly [number, string]

/** An honest proxy. */
const honest: Script = (path, removed) => {
  if (path === '/blog') return [200, 'blog has answered']
  return path === '/shop' && !removed ? [200, 'shop has answered'] : [404, '']
}

/** What `isSilent` says yes to gets no answer at all. */
const stageOf = async (
  script: Script,
  isSilent: (path: string, removed: boolean) => boolean = () => false,
): Promise<Stage> => {
  const { directory, dispose } = filesIn({ 'shop.yaml': '', 'blog.yaml': '' })
  cleanups.push(dispose)
  let turn = 0
  const server = createServer((request, response) => {
    const removed = !existsSync(`${directory}/shop.yaml`)
    if (isSilent(request.url ?? '', removed)) return
    const [status, body] = script(request.url ?? '', removed, (turn += 1))
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => (server.closeAllConnections(), void server.close()))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const backend = (name: string): Stage['shop'] => ({ name, host: '127.0.0.1', port: 1 })
  const url = `http://127.0.0.1:${port}`
  return { url, directory, shop: backend('shop'), blog: backend('blog') }
}

const check = async (script: Script, signal = new AbortController().signal) => {
  const said: Array<string> = []
  await checkDemo(await stageOf(script), (line) => void said.push(line), signal)
  return said
}

describe('the check of the demo', () => {
  test('holds where everything is as it should be', async () => {
    expect((await check(honest)).at(-1)).toMatch(/^GET \/blog: 200 from blog, \d+ times/)
  })

  test('fails where one request of the constant load fails', async () => {
    const once = new Set<string>()
    const blip: Script = (path, removed, turn) => {
      if (path !== '/blog' || !removed || once.has(path)) return honest(path, removed, turn)
      once.add(path)
      return [503, 'no healthy upstream']
    }
    await expect(check(blip)).rejects.toThrow(/1 of \d+ requests to \/blog failed.*503/)
  })

  test('fails where the constant load is answered by the wrong backend', async () => {
    const mixed: Script = (path, removed, turn) =>
      path === '/blog' && removed ? [200, 'shop has answered'] : honest(path, removed, turn)
    await expect(check(mixed)).rejects.toThrow(/requests to \/blog failed/)
  })

  test('fails where a prefix does not end at a path element', async () => {
    const greedy: Script = (path, removed, turn) =>
      honest(path === '/shopping' ? '/shop' : path, removed, turn)
    await expect(check(greedy)).rejects.toThrow('/shopping')
  })

  test.each([
    [
      'a removed route goes on',
      ((path) => honest(path, false, 0)) satisfies Script,
      '/shop: the last',
    ],
    [
      'a route answers from the wrong backend',
      ((path, removed) => honest(path === '/shop' ? '/blog' : path, removed, 0)) satisfies Script,
      '/shop: the last answer was 200',
    ],
    ['nothing answers', (() => [503, '']) satisfies Script, '/shop: the last answer was 503'],
  ] as const)('fails in the end where %s', async (_, script, message) => {
    await expect(check(script, AbortSignal.timeout(2_000))).rejects.toThrow(message)
  })

  test('is over at once when it is asked to end, also while nothing answers', async () => {
    const abort = new AbortController()
    const silent = await stageOf(honest, (path, removed) => {
      if (path !== '/blog' || !removed) return false
      abort.abort()
      return true
    })
    const before = performance.now()
    await expect(checkDemo(silent, () => undefined, abort.signal)).rejects.toThrow()
    expect(performance.now() - before).toBeLessThan(5_000)
  })
})
