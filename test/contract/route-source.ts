import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { RouteSource, SourceError, SourceState } from '../../src/ports/route-source.js'

/** A source, and the place that it reads. Each route is told by its name and the code it answers. */
export interface RouteSourceWorld {
  readonly source: RouteSource
  readonly put: (name: string, code: number) => void | Promise<void>
  readonly remove: (name: string) => void | Promise<void>
  /** Makes what stands in a route's place useless, so that its last good form is kept. */
  readonly spoil: (name: string) => void | Promise<void>
}

export type RoutesByName = Readonly<Record<string, number>>

/** What a watcher was told so far. */
export interface Watching {
  readonly states: ReadonlyArray<SourceState>
  readonly latest: () => SourceState | undefined
  /** The latest routes as names and codes. */
  readonly routes: () => RoutesByName | undefined
  readonly route: (name: string) => EdgeRoute | undefined
  readonly abort: () => void
  readonly ended: Promise<E.Either<SourceError, void>>
}

/** Watches a source until the test ends. */
export const watching = (source: RouteSource): Watching => {
  const states: Array<SourceState> = []
  const stop = new AbortController()
  const ended = source.watch((state) => states.push(state), stop.signal)()
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  const latest = (): SourceState | undefined => states.at(-1)
  return {
    states,
    latest,
    routes: () =>
      latest() &&
      Object.fromEntries(
        latest()?.routes.map(({ metadata, spec }) => [metadata.name, spec.respond?.code ?? 0]) ??
          [],
      ),
    route: (name) => latest()?.routes.find(({ metadata }) => metadata.name === name),
    abort: () => {
      stop.abort()
    },
    ended,
  }
}

/** Long enough for the slowest source on a busy machine; a passing test never waits for it. */
export const patience = { timeout: 20_000, interval: 5 } as const

/** What every `RouteSource` promises. Run it for each adapter. */
export const routeSourceContract = (
  name: string,
  worldOf: (routes: RoutesByName) => RouteSourceWorld | Promise<RouteSourceWorld>,
): void => {
  describe(`${name} keeps the RouteSource contract`, () => {
    test('the first state is the whole of what is there, also if that is nothing', async () => {
      const full = watching((await worldOf({ a: 200, b: 404 })).source)
      const empty = watching((await worldOf({})).source)
      await expect.poll(() => full.states.length, patience).toBeGreaterThan(0)
      await expect.poll(() => empty.states.length, patience).toBeGreaterThan(0)
      expect(full.routes()).toEqual({ a: 200, b: 404 })
      expect(empty.latest()).toEqual({ routes: [], problems: [] })
    })

    test('what is added, changed and removed arrives', async () => {
      const { source, put, remove } = await worldOf({ a: 200 })
      const watch = watching(source)
      await expect.poll(watch.routes, patience).toEqual({ a: 200 })
      await put('b', 404)
      await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 404 })
      await put('a', 503)
      await expect.poll(watch.routes, patience).toEqual({ a: 503, b: 404 })
      await remove('a')
      await expect.poll(watch.routes, patience).toEqual({ b: 404 })
    })

    test('each uid is there once, and an object keeps its uid when it changes', async () => {
      const { source, put } = await worldOf({ a: 200, b: 404 })
      const watch = watching(source)
      await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 404 })
      const uid = watch.route('a')?.metadata.uid
      await put('a', 503)
      await expect.poll(watch.routes, patience).toEqual({ a: 503, b: 404 })
      expect(watch.route('a')?.metadata.uid).toBe(uid)
      for (const { routes } of watch.states)
        expect(new Set(routes.map(({ metadata }) => metadata.uid)).size).toBe(routes.length)
    })

    test('a route that has not changed stays the same object', async () => {
      const { source, put, remove } = await worldOf({ a: 200, b: 404 })
      const watch = watching(source)
      await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 404 })
      const before = watch.route('a')
      await put('b', 503)
      await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 503 })
      expect(watch.route('a')).toBe(before)
      await remove('b')
      await expect.poll(watch.routes, patience).toEqual({ a: 200 })
      expect(watch.route('a')).toBe(before)
    })

    test('nobody is told twice of one state', async () => {
      const { source, put } = await worldOf({ a: 200 })
      const watch = watching(source)
      await expect.poll(watch.routes, patience).toEqual({ a: 200 })
      await put('a', 200)
      await put('b', 404)
      await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 404 })
      expect(watch.states.map(({ routes }) => routes.length)).toEqual([1, 2])
    })

    test('what becomes useless keeps its last good form and is named, until it is right again', async () => {
      const { source, put, spoil } = await worldOf({ a: 200, b: 404 })
      const watch = watching(source)
      await expect.poll(watch.routes, patience).toEqual({ a: 200, b: 404 })
      await spoil('a')
      await expect.poll(() => watch.latest()?.problems.length, patience).toBe(1)
      expect(watch.routes()).toEqual({ a: 200, b: 404 })
      const [problem] = watch.latest()?.problems ?? []
      expect(problem?.where).not.toBe('')
      expect(problem?.errors).not.toEqual([])
      expect(problem?.keepsLastGood).toBe(true)
      await put('a', 503)
      await expect.poll(watch.routes, patience).toEqual({ a: 503, b: 404 })
      expect(watch.latest()?.problems).toEqual([])
    })

    test('each watcher is told all', async () => {
      const { source, put } = await worldOf({ a: 200 })
      const first = watching(source)
      await expect.poll(first.routes, patience).toEqual({ a: 200 })
      await put('b', 404)
      const second = watching(source)
      await expect.poll(first.routes, patience).toEqual({ a: 200, b: 404 })
      await expect.poll(second.routes, patience).toEqual({ a: 200, b: 404 })
      first.abort()
      await first.ended
      await put('b', 503)
      await expect.poll(second.routes, patience).toEqual({ a: 200, b: 503 })
      expect(first.routes()).toEqual({ a: 200, b: 404 })
    })

    test('an abort ends it well, and nobody is told any more', async () => {
      const { source, put } = await worldOf({ a: 200 })
      const watch = watching(source)
      const witness = watching(source)
      await expect.poll(watch.routes, patience).toEqual({ a: 200 })
      watch.abort()
      expect(await watch.ended).toEqual(E.right(undefined))
      await put('b', 404)
      await expect.poll(witness.routes, patience).toEqual({ a: 200, b: 404 })
      expect(watch.states).toHaveLength(1)
    })

    test('an abort from within the callback is the last thing that is told', async () => {
      const { source } = await worldOf({ a: 200 })
      const stop = new AbortController()
      const onState = vi.fn(() => {
        stop.abort()
      })
      expect(await source.watch(onState, stop.signal)()).toEqual(E.right(undefined))
      expect(onState).toHaveBeenCalledTimes(1)
    })

    test('what is aborted before it begins tells nothing and ends well', async () => {
      const { source } = await worldOf({ a: 200 })
      const onState = vi.fn()
      expect(await source.watch(onState, AbortSignal.abort())()).toEqual(E.right(undefined))
      expect(onState).not.toHaveBeenCalled()
    })

    test('a watcher that throws ends its own watching with a left, and nobody else’s', async () => {
      const { source, put } = await worldOf({ a: 200 })
      const witness = watching(source)
      const cause = new Error('the watcher is at fault')
      const thrower = (): void => {
        throw cause
      }
      const ended = await source.watch(thrower, new AbortController().signal)()
      expect(E.isLeft(ended) && ended.left).toMatchObject({ _tag: 'Unavailable', cause })
      await put('b', 404)
      await expect.poll(witness.routes, patience).toEqual({ a: 200, b: 404 })
    })
  })
}
