import { expect, onTestFinished, test } from 'vitest'
import {
  type ClusterEvent,
  kubernetesEvents,
  type KubernetesEvents,
} from '../../src/adapters/k8s/events.js'
import { maxSeries, maxWaiting, remember, seriesMs } from '../../src/adapters/k8s/events/series.js'
import { objectIn } from '../../src/adapters/k8s/informers/index.js'
import { memoryLogger, virtualClock } from '../../src/adapters/memory/index.js'
import { lost, objectServer, statusOf } from '../support/k8s-object-server.js'
import { passTime, settle } from '../support/virtual-time.js'

const collection = '/apis/events.k8s.io/v1/namespaces/shop/events'

const anEvent = (note: string, name = 'checkout'): ClusterEvent => ({
  regarding: {
    apiVersion: 'net.10xdev.io/v1',
    kind: 'EdgeRoute',
    namespace: 'shop',
    name,
    uid: 'u',
  },
  type: 'Warning',
  reason: 'GlassBroken',
  action: 'Deprogramming',
  note,
})

const aWorld = () => {
  const server = objectServer()
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00.000Z'))
  const logger = memoryLogger()
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const events: KubernetesEvents = kubernetesEvents(
    server.client,
    { identity: 'host_1', clock, logger },
    abort.signal,
  )
  const all = () => server.names(collection).map((name) => server.at(`${collection}/${name}`))
  return { server, clock, logger, events, all, abort: () => abort.abort() }
}

test('what happens is told as an Event in the namespace of what it is about', async () => {
  const { clock, events, all } = aWorld()
  events.emit(anEvent('not confirmed by envoy-1'))
  await passTime(clock, 200)
  expect(all()).toEqual([
    expect.objectContaining({
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'net.10xdev.io/edgewright',
      reportingInstance: 'host_1',
      note: 'not confirmed by envoy-1',
      type: 'Warning',
      regarding: anEvent('').regarding,
    }),
  ])
})

test('the same once more is counted, and told anew when it was long ago or was removed', async () => {
  const { server, clock, events, all } = aWorld()
  const again = async (): Promise<void> => {
    events.emit(anEvent('again'))
    await passTime(clock, 1_000)
  }
  await again()
  expect(objectIn(all()[0] ?? {}, 'series')).toEqual({})
  await again()
  await again()
  expect(all()).toHaveLength(1)
  expect(objectIn(all()[0] ?? {}, 'series')).toMatchObject({ count: 3 })
  server.remove(`${collection}/${server.names(collection)[0]}`)
  await again()
  expect(all()).toHaveLength(1)
  await passTime(clock, seriesMs, 10_000)
  await again()
  expect(all()).toHaveLength(2)
})

test('an Event whose answer was lost is there once', async () => {
  const { server, clock, events, all } = aWorld()
  let tries = 0
  server.meddle = () => ((tries += 1) === 1 ? lost(true) : undefined)
  events.emit(anEvent('once'))
  await passTime(clock, 2_000)
  expect(tries).toBe(2)
  expect(all()).toHaveLength(1)
})

test('what cannot be told is dropped after a few tries, and the log says so once', async () => {
  const { server, clock, events, logger, all } = aWorld()
  server.meddle = () => ({ reply: statusOf(503) })
  events.emit(anEvent('a'))
  events.emit(anEvent('b'))
  await passTime(clock, 10_000)
  expect(server.asked).toHaveLength(6)
  expect(logger.entries()).toHaveLength(1)
  server.meddle = () => ({ reply: statusOf(403, 'Forbidden') })
  events.emit(anEvent('c'))
  await passTime(clock, 10_000)
  expect(server.asked).toHaveLength(7)
  server.meddle = () => undefined
  events.emit(anEvent('d'))
  await passTime(clock, 1_000)
  expect(all().map((event) => event?.['note'])).toEqual(['d'])
})

test('a flood is bounded, and paced', async () => {
  const { server, clock, events, logger } = aWorld()
  for (let i = 0; i < 2 * maxWaiting; i += 1) events.emit(anEvent(`${i}`))
  await passTime(clock, 1_000, 10)
  expect(server.asked.length).toBeLessThanOrEqual(21)
  await passTime(clock, 60_000, 50)
  expect(server.asked.length).toBeLessThanOrEqual(maxWaiting + 1)
  expect(logger.entries()).toHaveLength(1)
})

test('warnings are told first, and where too many wait the others go', async () => {
  const { server, clock, events, all } = aWorld()
  const normal = (note: string): ClusterEvent => ({ ...anEvent(note), type: 'Normal' })
  for (let i = 0; i < maxWaiting; i += 1) events.emit(normal(`normal ${i}`))
  for (let i = 0; i < 3; i += 1) events.emit(anEvent(`warning ${i}`))
  events.emit(normal('late'))
  await passTime(clock, 300, 10)
  const first = server.asked.slice(0, 3).map(({ body }) => objectIn({ body }, 'body').note)
  expect(first).toEqual(['warning 0', 'warning 1', 'warning 2'])
  await passTime(clock, 60_000, 50)
  expect(all()).toHaveLength(maxWaiting)
  const notes = all().map((event) => event?.['note'])
  expect(notes).toContain(`normal ${maxWaiting - 4}`)
  expect(notes).not.toContain(`normal ${maxWaiting - 3}`)
  expect(notes).not.toContain('late')
})

test('a server that wants to be left alone is, but not for ever', async () => {
  const { server, clock, events, all } = aWorld()
  const startMs = clock.nowMs()
  const times: Array<number> = []
  let asks = 8_000
  server.meddle = () => {
    times.push(clock.nowMs() - startMs)
    return asks === 0 ? undefined : { reply: statusOf(429, '', 'busy', asks) }
  }
  events.emit(anEvent('a'))
  await passTime(clock, 10_000)
  expect(times).toEqual([0, 8_000])
  asks = 3_600_000
  await passTime(clock, 6_100)
  expect(times).toEqual([0, 8_000, 16_000])
  asks = 0
  // That one is given up; the next waits for the server all the same.
  events.emit(anEvent('b'))
  await passTime(clock, 29_800)
  expect(times).toHaveLength(3)
  await passTime(clock, 200)
  expect(times).toEqual([0, 8_000, 16_000, 46_000])
  expect(all().map((event) => event?.['note'])).toEqual(['b'])
})

test('at the end what waits is told still, for a moment, and nothing after that', async () => {
  const { server, clock, events, all, abort } = aWorld()
  events.emit(anEvent('a'))
  events.emit(anEvent('b'))
  abort()
  events.emit(anEvent('late'))
  await passTime(clock, 500)
  await events.finished
  expect(all()).toHaveLength(2)

  const stuck = aWorld()
  stuck.server.meddle = () => new Promise(() => undefined)
  stuck.events.emit(anEvent('a'))
  await settle()
  stuck.abort()
  await passTime(stuck.clock, 4_000)
  await stuck.events.finished
  expect(server.asked).toHaveLength(2)
})

test('a note that is too long is cut between characters', async () => {
  const { clock, events, all } = aWorld()
  events.emit(anEvent('é'.repeat(1_000)))
  await passTime(clock, 200)
  const note = String(all()[0]?.['note'])
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024)
  expect(note).toMatch(/^é{500,}…$/)
})

test('what was told is remembered for a bounded number of events and a bounded time', () => {
  const told = (lastMs: number) => ({ name: 'n', namespace: 'shop', count: 1, lastMs })
  let series: Parameters<typeof remember>[0] = new Map()
  for (let i = 0; i < 2 * maxSeries; i += 1) series = remember(series, `${i}`, told(0))
  expect(series.size).toBe(maxSeries)
  expect([...series.keys()].at(-1)).toBe(`${2 * maxSeries - 1}`)
  expect([...remember(series, 'new', told(seriesMs + 1)).keys()]).toEqual(['new'])
})
