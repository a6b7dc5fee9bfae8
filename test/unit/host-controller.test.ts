import { type ControllerPorts, fromPromises, runController } from 'edgewright/host'
import {
  memoryControlPlane,
  memoryLogger,
  memoryMetrics,
  memoryRouteSource,
  virtualClock,
} from 'edgewright/memory'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, test } from 'vitest'
import type { EdgeRoute, EdgeRouteSpec } from '../../src/core/edge-route.js'
import type { Snapshot } from '../../src/core/snapshot.js'
import type { Translation } from '../../src/core/translate.js'
import type { RouteSource, SourceError, SourceState } from '../../src/ports/route-source.js'
import { backoffMs, firstBackoffMs, maxBackoffMs } from '../../src/host/backoff.js'

const aRoute = (name: string, spec: EdgeRouteSpec = {}, uid = name): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid, generation: 1, finalizers: [] },
  spec: {
    matches: [{ path: { prefix: `/${name}` } }],
    backends: [{ address: { host: '10.0.0.1', port: 80 } }],
    ...spec,
  },
})

/** Two that claim the same; without ages the lesser name wins. */
const rival = (name: string): EdgeRoute =>
  aRoute(name, { matches: [{ path: { prefix: '/same' } }] })

const running: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of running.splice(0)) await stop()
})

/**
 * Runs a controller on virtual time. `tick` lets pass what is due at this moment, or after `ms`.
 */
const start = (source: RouteSource, more: Partial<ControllerPorts> = {}) => {
  const clock = virtualClock()
  const logger = memoryLogger()
  const metrics = memoryMetrics()
  const published: Array<Snapshot> = []
  const reported: Array<Translation> = []
  const abort = new AbortController()
  const ports: ControllerPorts = {
    source,
    sink: { publish: (snapshot) => void published.push(snapshot) },
    clock,
    logger,
    metrics,
    onVerdicts: (translation) => void reported.push(translation),
    random: () => 0,
    ...more,
  }
  const ended = runController(ports, abort.signal)
  const stop = (): Promise<void> => {
    abort.abort()
    return ended
  }
  running.push(() => stop().catch(() => undefined))
  const tick = async (ms = 0): Promise<void> => {
    await settled()
    clock.advance(ms)
    await settled()
  }
  return { clock, logger, metrics, published, reported, ended, stop, tick }
}

/** Lets all promises that wait for nothing go on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A source that fails when it is told to. */
const fragileSource = () => {
  let emit: ((state: SourceState) => void) | undefined
  let end: ((result: E.Either<SourceError, void>) => void) | undefined
  let starts = 0
  const source: RouteSource = {
    watch: (onState, signal) => () =>
      new Promise((resolve) => {
        starts += 1
        emit = onState
        end = resolve
        signal.addEventListener('abort', () => resolve(E.right(undefined)))
      }),
  }
  return {
    source,
    emit: (...routes: ReadonlyArray<EdgeRoute>) => emit?.({ routes, problems: [] }),
    fail: (message: string) => end?.(E.left({ _tag: 'Unavailable', message, cause: undefined })),
    starts: () => starts,
  }
}

const messages = (logger: ReturnType<typeof memoryLogger>): ReadonlyArray<string> =>
  logger
    .entries()
    .map(({ level, message, fields }) => `${level} ${message} ${fields['where'] ?? ''}`)

describe('publishing', () => {
  test('nothing is published before the source has given its first complete state', async () => {
    const { source, emit } = fragileSource()
    const { published, tick } = start(source)
    await tick(60_000)
    expect(published).toEqual([])
    emit()
    await tick()
    expect(published).toHaveLength(1)
  })

  test('an unchanged world publishes nothing, however often it is said', async () => {
    const { source, emit } = fragileSource()
    const { published, reported, metrics, tick } = start(source)
    for (let i = 0; i < 5; i += 1) {
      emit(aRoute('a'), aRoute('b'))
      await tick(1_000)
    }
    expect(metrics.value('edgewright_translations_total')).toBe(4 + 1)
    expect(metrics.value('edgewright_publishes_total')).toBe(1)
    expect(published).toHaveLength(1)
    expect(reported).toHaveLength(1)
  })

  test('routes that are the very same ones are not even translated again', async () => {
    const { source, emit } = fragileSource()
    const { metrics, tick } = start(source)
    const [a, b] = [aRoute('a'), aRoute('b')]
    for (const routes of [[a, b], [a, b], [a], [a], [a, aRoute('b')]]) {
      emit(...routes)
      await tick(1_000)
    }
    expect(metrics.value('edgewright_translations_total')).toBe(3)
  })

  test('states that arrive together are translated once, and it is the latest that counts', async () => {
    const source = memoryRouteSource()
    const { metrics, reported, tick } = start(source)
    await settled()
    for (const name of ['a', 'b', 'c']) source.apply(aRoute(name))
    await tick()
    expect(metrics.value('edgewright_translations_total')).toBe(1)
    expect([...(reported[0]?.verdicts.keys() ?? [])]).toEqual(['a', 'b', 'c'])
  })

  test('a lone change is not held up by time', async () => {
    const source = memoryRouteSource()
    const { clock, published, tick } = start(source)
    await tick()
    source.apply(aRoute('a'))
    await tick()
    expect(published).toHaveLength(2)
    expect(clock.nowMs()).toBe(0)
  })

  test('a route that comes and goes reaches an Envoy, and leaves it', async () => {
    const source = memoryRouteSource([aRoute('a')])
    const controlPlane = memoryControlPlane()
    const node = { id: 'e', cluster: 'edge-envoy' }
    const envoy = controlPlane.connect({ node, variant: 'delta' })
    const { tick } = start(source, { sink: controlPlane })
    const answer = async (): Promise<string> => {
      await tick()
      controlPlane.settle()
      return envoy.request({ listener: 'http', host: 'h', path: '/a' })._tag
    }
    expect(await answer()).toBe('Forwarded')
    source.delete('a')
    expect(await answer()).toBe('NotFound')
  })
})

describe('a source that ends', () => {
  test('is started again, and what was published stays', async () => {
    const { source, emit, fail, starts } = fragileSource()
    const { published, metrics, tick } = start(source)
    emit(aRoute('a'))
    await tick()
    fail('no more')
    await tick()
    expect(starts()).toBe(1)
    await tick(firstBackoffMs)
    expect(starts()).toBe(2)
    expect(published).toHaveLength(1)
    expect(metrics.value('edgewright_source_restarts_total')).toBe(1)
    emit(aRoute('a'), aRoute('b'))
    await tick()
    expect(published).toHaveLength(2)
  })

  test('is no longer listened to', async () => {
    const { source, emit, fail } = fragileSource()
    const { published, tick } = start(source)
    await settled()
    fail('no more')
    await settled()
    emit(aRoute('a'))
    await tick()
    expect(published).toEqual([])
  })

  test('is tried after pauses that double, up to the longest one', async () => {
    const { source, fail, starts } = fragileSource()
    const { clock, tick } = start(source)
    const pauses: Array<number> = []
    for (let i = 0; i < 10; i += 1) {
      await settled()
      fail('no')
      await settled()
      const before = { starts: starts(), ms: clock.nowMs() }
      for (let j = 0; j < 1_000 && starts() === before.starts; j += 1) await tick(100)
      pauses.push(clock.nowMs() - before.ms)
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000])
  })

  test('is tried soon again where it had been well for long', async () => {
    const { source, fail, starts } = fragileSource()
    const { tick } = start(source)
    for (let i = 0; i < 12; i += 1) {
      await settled()
      fail('no')
      await tick(maxBackoffMs)
    }
    const before = starts()
    await tick(10 * maxBackoffMs)
    fail('no')
    await tick(firstBackoffMs)
    expect(starts()).toBe(before + 1)
  })

  test('has its reason logged when it appears and when it is over, not at each try', async () => {
    const { source, emit, fail } = fragileSource()
    const { logger, tick } = start(source)
    for (const reason of ['x', 'x', 'x', 'y']) {
      await settled()
      fail(reason)
      await tick(maxBackoffMs)
    }
    emit()
    emit()
    await tick()
    const told = logger.entries().filter(({ level }) => level !== 'debug')
    expect(told.map(({ level, fields }) => `${level} ${fields['reason'] ?? ''}`)).toEqual([
      'warn x',
      'warn y',
      'info ', // the source is back
      'info ', // published
    ])
  })
})

test('the pause before a try is between one half and the whole of what doubling gives', () => {
  for (let attempt = 1; attempt <= 64; attempt += 1) {
    const whole = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
    expect(backoffMs(attempt, 0)).toBe(whole / 2)
    expect(backoffMs(attempt, 0.999_999)).toBeLessThan(whole)
  }
})

describe('reports', () => {
  test('verdicts are reported first, and then when they change', async () => {
    const source = memoryRouteSource([rival('a')])
    const { reported, tick } = start(source)
    await tick()
    source.apply(rival('b'))
    await tick()
    source.report([{ where: 'x', key: undefined, errors: [], keepsLastGood: false }])
    await tick()
    expect(reported.map(({ verdicts }) => verdicts.get('b')?.accepted._tag)).toEqual([
      undefined,
      'Conflicted',
    ])
  })

  test('a complaint is logged once when it appears and once when it is gone', async () => {
    const source = memoryRouteSource([rival('a')])
    const { logger, tick } = start(source)
    const problem = {
      where: 'shop.yaml',
      key: undefined,
      errors: [{ path: 'spec.retries', message: 'should be a map' }],
      keepsLastGood: true,
    }
    const steps = [
      () => source.apply(rival('b')),
      () => source.report([problem]),
      () => source.apply(aRoute('c')),
      () => source.delete('a'),
      () => source.report([]),
    ]
    for (const step of steps) {
      await tick()
      step()
    }
    await tick()
    expect(messages(logger).filter((line) => !line.includes('published'))).toEqual([
      'warn not served as asked test/b',
      'warn cannot be read shop.yaml',
      'info resolved test/b',
      'info resolved shop.yaml',
    ])
    const shown = logger.entries().find(({ fields }) => fields['where'] === 'shop.yaml')
    expect(shown?.fields['problem']).toContain('spec.retries: should be a map')
    expect(shown?.fields['problem']).toContain('still served')
  })

  test('the figures say how many routes are accepted, and how many places are a problem', async () => {
    const source = memoryRouteSource([rival('a'), rival('b'), aRoute('c')])
    source.report([{ where: 'x', key: undefined, errors: [], keepsLastGood: false }])
    const { metrics, tick } = start(source)
    await tick()
    expect(metrics.value('edgewright_routes', { accepted: 'true' })).toBe(2)
    expect(metrics.value('edgewright_routes', { accepted: 'false' })).toBe(1)
    expect(metrics.value('edgewright_source_problems')).toBe(1)
  })
})

describe('the end', () => {
  test('it resolves when it is aborted, and leaves no timer behind', async () => {
    const source = memoryRouteSource([aRoute('a')])
    const { clock, published, stop } = start(source)
    await settled()
    await stop()
    clock.advance(1_000)
    expect(published).toEqual([])
    expect(clock.waiting()).toBe(0)
  })

  test('it resolves at once when it is aborted while it waits for the next try', async () => {
    const { source, fail } = fragileSource()
    const { clock, stop } = start(source)
    await settled()
    fail('no')
    await settled()
    await stop()
    expect(clock.waiting()).toBe(0)
  })

  test('it does not even watch where it was aborted before', async () => {
    const { source, starts } = fragileSource()
    const sink = { publish: () => undefined }
    await runController({ source, sink, clock: virtualClock() }, AbortSignal.abort())
    expect(starts()).toBe(0)
  })

  test('it rejects for a bug, and stops watching', async () => {
    const source = memoryRouteSource([aRoute('a')])
    const bug = new Error('a bug in the sink')
    const sink = {
      publish: () => {
        throw bug
      },
    }
    const { ended, tick } = start(source, { sink })
    const failed = expect(ended).rejects.toBe(bug)
    await tick()
    await failed
  })
})

describe('fromPromises', () => {
  test.each([
    ['a rejection', () => Promise.reject(new Error('gone'))],
    [
      'an exception',
      () => {
        throw new Error('gone')
      },
    ],
  ])('%s becomes a left that says so', async (_, watch) => {
    const { source } = fromPromises({ source: { watch } })
    const end = await source.watch(() => undefined, new AbortController().signal)()
    expect(end).toMatchObject(E.left({ _tag: 'Unavailable', message: 'gone' }))
  })

  test('a plain async adapter is a source of routes', async () => {
    const { source } = fromPromises({
      source: {
        watch: (onState, signal) =>
          new Promise((resolve) => {
            onState({ routes: [aRoute('a')], problems: [] })
            signal.addEventListener('abort', () => resolve())
          }),
      },
    })
    const { reported, stop, tick } = start(source)
    await tick()
    expect([...(reported[0]?.verdicts.keys() ?? [])]).toEqual(['a'])
    await stop()
  })
})
