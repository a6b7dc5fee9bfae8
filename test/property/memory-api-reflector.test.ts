import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ApiFaults,
  type EventFate,
  expired,
  memoryApiServer,
  memoryRoutes,
  type RequestFate,
  type WatchFate,
} from '../../src/adapters/memory/api-server/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import type { SourceState } from '../../src/ports/route-source.js'

type Action =
  | { readonly _tag: 'put'; readonly name: string; readonly code: number }
  | { readonly _tag: 'remove'; readonly name: string }
  | { readonly _tag: 'pass'; readonly ms: number }
  | { readonly _tag: 'disturb'; readonly fate: WatchFate }
  | { readonly _tag: 'forget' | 'bookmark' }

const watchFate = fc.constantFrom<WatchFate>('Close', 'Gone', 'Fail', 'Freeze')
const name = fc.constantFrom('a', 'b', 'c')
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      _tag: fc.constant('put' as const),
      name,
      code: fc.constantFrom(200, 404, 503, 1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('remove' as const), name }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('pass' as const), ms: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('disturb' as const), fate: watchFate }) },
  {
    weight: 1,
    arbitrary: fc.record({ _tag: fc.constantFrom('forget' as const, 'bookmark' as const) }),
  },
)

const eventFate: fc.Arbitrary<EventFate | undefined> = fc.option(
  fc.oneof(
    fc.record({ delayMs: fc.nat(2_000) }),
    fc.record({ copies: fc.constantFrom(0, 2) }),
    fc.record({ then: watchFate }),
  ),
  { nil: undefined, freq: 2 },
)
const requestFate: fc.Arbitrary<RequestFate | undefined> = fc.option(
  fc.oneof(
    fc.record({ requestMs: fc.nat(2_000), answerMs: fc.nat(2_000) }),
    fc.record({ fails: fc.constantFrom('before' as const, 'after' as const) }),
    fc.constant({ fails: 'before' as const, error: expired('too old') }),
    fc.record({ behind: fc.nat(5) }),
  ),
  { nil: undefined, freq: 2 },
)

interface Plan {
  readonly actions: ReadonlyArray<Action>
  readonly requests: ReadonlyArray<RequestFate | undefined>
  readonly events: ReadonlyArray<EventFate | undefined>
  readonly historyLimit: number
}

const plan: fc.Arbitrary<Plan> = fc.record({
  actions: fc.array(action, { maxLength: 40 }),
  requests: fc.array(requestFate, { maxLength: 20 }),
  events: fc.array(eventFate, { maxLength: 20 }),
  historyLimit: fc.nat(6),
})

const relistMs = 20_000
/** Once faults end: what is on its way arrives, and then the longest pause and two relists are over. */
const healMs = 10_000 + 30_000 + 2 * relistMs

interface Played {
  readonly states: ReadonlyArray<SourceState>
  /** What the server had at the end. */
  readonly final: ReadonlyArray<readonly [name: string, uid: string, resourceVersion: string]>
}

/** Plays a plan, with faults up to the last action; then lets time pass. */
const play = ({ actions, requests, events, historyLimit }: Plan): Played => {
  const clock = virtualClock()
  const fates = { requests: [...requests], events: [...events] }
  const faults: ApiFaults = {
    ofRequest: () => fates.requests.shift(),
    ofEvent: () => fates.events.shift(),
  }
  // From 98 on, so that versions with two and three digits meet.
  const server = memoryApiServer({ clock, historyLimit, firstResourceVersion: 98, faults })
  const states: Array<SourceState> = []
  const stop = new AbortController()
  const { source } = memoryRoutes(server, { clock, relistMs })
  void source.watch((state) => states.push(state), stop.signal)()
  for (const each of actions) {
    switch (each._tag) {
      case 'put': {
        const key = { namespace: 'shop', name: each.name }
        const before = server.get(key)
        const object = { ...(before ?? { metadata: key }), spec: { respond: { code: each.code } } }
        server.write({ _tag: before ? 'Update' : 'Create', object })
        break
      }
      case 'remove':
        server.write({ _tag: 'Delete', key: { namespace: 'shop', name: each.name } })
        break
      case 'pass':
        clock.advance(each.ms)
        break
      case 'disturb':
        server.disturb(each.fate)
        break
      case 'forget':
        server.forget()
        break
      case 'bookmark':
        server.bookmark()
    }
  }
  fates.requests = []
  fates.events = []
  clock.advance(healMs)
  stop.abort()
  const final = server.list().items.map(({ metadata }) => {
    const { name, uid, resourceVersion } = metadata
    return [name, uid, resourceVersion] as const
  })
  return { states, final }
}

const named = (state: SourceState | undefined) =>
  state?.objects?.map(({ key, uid, resourceVersion }) => [key.name, uid, resourceVersion])

test('whatever faults come, once they end the last state is what the server has', () => {
  const holds = fc.property(plan, (each) => {
    const { states, final } = play(each)
    expect(named(states.at(-1))).toEqual(final)
  })
  fc.assert(holds, { numRuns: 1_500 })
})

test('no state shows an object that is older than one of that name, or that uid, which was shown before', () => {
  const holds = fc.property(plan, (each) => {
    const { states } = play(each)
    const newest = new Map<string, number>()
    const gone = new Set<string>()
    let shown: ReadonlySet<string> = new Set<string>()
    for (const { objects = [] } of states) {
      for (const { key, uid, resourceVersion } of objects) {
        expect(gone).not.toContain(uid)
        expect(Number(resourceVersion)).toBeGreaterThanOrEqual(newest.get(key.name) ?? 0)
        newest.set(key.name, Number(resourceVersion))
      }
      const now = new Set(objects.map(({ uid }) => uid))
      for (const uid of shown) if (!now.has(uid)) gone.add(uid)
      shown = now
    }
  })
  fc.assert(holds, { numRuns: 1_500 })
})

test('each state is another one, names each uid once, and sorts each object among those served and the problems', () => {
  const holds = fc.property(plan, (each) => {
    const { states } = play(each)
    const told = states.map((state) => JSON.stringify(named(state)))
    expect(told.filter((state, i) => state === told[i - 1])).toEqual([])
    for (const { routes, objects = [], problems } of states) {
      const uids = objects.map(({ uid }) => uid)
      expect(new Set(uids).size).toBe(uids.length)
      const kept = problems.filter(({ keepsLastGood }) => keepsLastGood)
      expect(routes.length + problems.length - kept.length).toBe(objects.length)
      for (const { metadata } of routes) expect(uids).toContain(metadata.uid)
    }
  })
  fc.assert(holds, { numRuns: 300 })
})

test('the same plan is played the same way', () => {
  const holds = fc.property(plan, (each) => {
    expect(play(each)).toEqual(play(each))
  })
  fc.assert(holds, { numRuns: 100 })
})

test('a server that answers nothing right is not asked without end: waits grow up to half a minute', () => {
  const ms = 3_600_000
  const asked = (fate: RequestFate): number => {
    const clock = virtualClock()
    let count = 0
    const ofRequest = ({ _tag }: { readonly _tag: string }): RequestFate | undefined => {
      if (++count > 10_000) throw new Error('asked without end')
      return _tag === 'List' && fate.error !== undefined ? undefined : fate
    }
    const server = memoryApiServer({ clock, faults: { ofRequest } })
    const stop = new AbortController()
    void memoryRoutes(server, { clock, relistMs: 0 }).source.watch(() => undefined, stop.signal)()
    clock.advance(ms)
    stop.abort()
    return count
  }
  const leastMs = 30_000
  const isSlow = (count: number, perTry: number): void => {
    expect(count).toBeGreaterThan((perTry * ms) / leastMs - 1)
    expect(count).toBeLessThan((perTry * ms) / leastMs + 20)
  }
  isSlow(asked({ fails: 'before' }), 1)
  isSlow(asked({ fails: 'before', error: expired('too old') }), 2)
})

test('a server that ends each watch without a word is asked for a list after the third one', () => {
  const clock = virtualClock()
  const asked: Array<string> = []
  const server = memoryApiServer({
    clock,
    faults: {
      ofRequest: ({ _tag }) => {
        asked.push(_tag)
        return undefined
      },
    },
  })
  const stop = new AbortController()
  void memoryRoutes(server, { clock, relistMs: 0 }).source.watch(() => undefined, stop.signal)()
  for (let i = 0; i < 4; i++) {
    server.disturb('Close')
    clock.advance(30_000)
  }
  stop.abort()
  expect(asked).toEqual(['List', 'Watch', 'Watch', 'Watch', 'List', 'Watch', 'List', 'Watch'])
})
