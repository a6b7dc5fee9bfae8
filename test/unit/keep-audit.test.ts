import { expect, test } from 'vitest'
import { memoryLogger } from '../../src/adapters/memory/index.js'
import { steppingClock } from '../../src/adapters/memory/stepping-clock.js'
import { defaultContext } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { translate } from '../../src/core/translate.js'
import { emptyWorld } from '../../src/core/translator.js'
import { auditEveryMs, keepAudit, type PublishedWorld } from '../../src/host/keep-audit.js'

const { dataPlanes } = defaultContext

const routes: ReadonlyArray<EdgeRoute> = Array.from({ length: 1_000 }, (_, i) => ({
  metadata: { namespace: 'test', name: `r${i}`, uid: `r${i}`, generation: 1, finalizers: [] },
  spec: { hostnames: [`r${i}.test`], respond: { code: 204 } },
}))

const world = { ...emptyWorld, routes }
const right: PublishedWorld = { world, translation: translate(routes), forms: new Map() }
const wrong: PublishedWorld = { world, translation: translate(routes.slice(20)), forms: new Map() }

const stage = (published: () => PublishedWorld | undefined) => {
  const clock = steppingClock(0)
  const logger = memoryLogger()
  const counted: Array<string> = []
  const renewals: Array<number> = []
  const stop = new AbortController()
  const metrics = {
    add: (name: string, labels: object, by: number) => {
      counted.push(`${name} ${JSON.stringify(labels)} ${by}`)
    },
    set: () => undefined,
  }
  const renew = (): void => void renewals.push(clock.nowMs())
  const ended = keepAudit({ dataPlanes, clock, logger, metrics, published, renew }, stop.signal)
  const pass = async (ms: number): Promise<void> => {
    const end = clock.nowMs() + ms
    for (;;) {
      for (let i = 0; i < 20; i++) await Promise.resolve()
      if (!clock.runNext(end)) return clock.moveTo(end)
    }
  }
  return { ended, logger, counted, renewals, stop, pass }
}

test('what is published and right is looked at, and let be', async () => {
  const { pass, renewals, counted, logger, stop, ended } = stage(() => right)
  await pass(auditEveryMs * 2.5)
  expect(counted).toEqual(Array(2).fill('edgewright_audits_total {"result":"same"} 1'))
  expect([renewals, logger.entries()]).toEqual([[], []])
  stop.abort()
  await ended
})

test('what is wrong is told, with some of its names, and made anew', async () => {
  const { pass, renewals, counted, logger, stop, ended } = stage(() => wrong)
  await pass(auditEveryMs + 10_000)
  expect(counted).toEqual(['edgewright_audits_total {"result":"different"} 1'])
  expect(renewals).toHaveLength(1)
  const [line] = logger.entries()
  expect(line?.level).toBe('error')
  expect(line?.fields).toEqual({
    differs:
      'RouteConfiguration http of edge-envoy, ' +
      ['r0', 'r1', 'r10', 'r11', 'r12', 'r13', 'r14']
        .map((uid) => `the verdict on ${uid}`)
        .join(', ') +
      ' and 13 more',
  })
  stop.abort()
  await ended
})

test('nothing is looked at before something is published, nor after the end, be it in the middle', async () => {
  const published: Array<PublishedWorld> = []
  const { pass, renewals, stop, ended } = stage(() => published[0])
  await pass(auditEveryMs * 1.5)
  published.push(wrong)
  await pass(auditEveryMs / 2 + 20)
  stop.abort()
  await ended
  await pass(auditEveryMs * 2)
  expect(renewals).toEqual([])
})
