import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { watchOver } from '../../src/host/cli/demo/watch-over.js'

const never = new Promise<never>(() => undefined)
const idle = new AbortController().signal

/** Work that ends some time after it is asked to, and says so. */
const slowly =
  (said: Array<string>, end: () => void = () => undefined) =>
  async (signal: AbortSignal): Promise<void> => {
    await once(signal, 'abort')
    await sleep(50)
    said.push('the work has ended')
    end()
  }

const cutOff = (): void => {
  throw new Error('cut off')
}

test.each<readonly [string, (() => void) | undefined]>([
  ['ends in good order', undefined],
  ['fails', cutOff],
])('what breaks is told once the work has ended, where that %s', async (_, end) => {
  const said: Array<string> = []
  const broken = Promise.reject(new Error('Envoy has ended'))
  const watched = watchOver({ broken, log: () => '' }, idle, slowly(said, end))
  await expect(watched).rejects.toThrow('Envoy has ended')
  expect(said).toEqual(['the work has ended'])
})

test('a failure shows the log of the Envoy, if there is any', async () => {
  const work = (): Promise<void> => Promise.reject(new Error('no answer'))
  const watched = (log: string) => watchOver({ broken: never, log: () => log }, idle, work)
  await expect(watched('')).rejects.toThrow(/^no answer$/)
  await expect(watched('[warning] odd')).rejects.toThrow(/no answer[^]*\[warning\] odd/)
})

test('it resolves when the work is done, or was asked to end', async () => {
  await watchOver({ broken: never, log: () => '' }, idle, () => Promise.resolve())
  const said: Array<string> = []
  const abort = new AbortController()
  const watched = watchOver({ broken: never, log: () => '' }, abort.signal, slowly(said))
  abort.abort()
  await watched
  expect(said).toEqual(['the work has ended'])
})
