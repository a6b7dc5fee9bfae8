import { describe, expect, test } from 'vitest'
import { type Failure, showTrouble } from '../../src/adapters/k8s/reflector/failure.js'
import type {
  Query,
  Reflector,
  ReflectorEffect,
  ReflectorEvent,
  ReflectorStep,
  Sighting,
} from '../../src/adapters/k8s/reflector/state.js'
import { type Beginning, begin, deadlineMs, step } from '../../src/adapters/k8s/reflector/step.js'
import { heldBy } from '../support/k8s-reflector-play.js'

type Effect = ReflectorEffect<number>
type News<E> = E extends { readonly attempt: number } ? Omit<E, 'attempt'> : never

/** One reflector, and what it did last. */
interface Driven {
  readonly state: () => Reflector<number>
  /** News of the request that is under way. */
  readonly hear: (event: News<ReflectorEvent<number>>) => void
  readonly late: (event: ReflectorEvent<number>) => void
  readonly pass: (ms: number) => void
  /** Lets time pass until something is due, and says how much. */
  readonly wait: () => number
  readonly last: () => ReadonlyArray<Effect>
  /** The parameters of what was asked for last; `undefined` if nothing was. */
  readonly asked: () => Query | undefined
  readonly told: () => ReadonlyArray<string>
}

const driven = (beginning: Partial<Beginning> = {}): Driven => {
  let nowMs = 0
  let last: ReadonlyArray<Effect> = []
  const begun = begin<number>(
    {
      entropy: 7,
      watchList: false,
      groups: undefined,
      pageSize: 2,
      relistMs: 0,
      ...beginning,
    },
    nowMs,
  )
  let [state] = begun
  const take = ([next, effects]: ReflectorStep<number>): void => {
    state = next
    last = effects
  }
  const late = (event: ReflectorEvent<number>): void => take(step(state, event, nowMs))
  const pass = (ms: number): void => {
    nowMs += ms
    late({ _tag: 'Ticked' })
  }
  take(begun)
  return {
    state: () => state,
    hear: (event) => {
      const { attempt } = state
      late({ ...event, attempt })
    },
    late,
    pass,
    wait: () => {
      const ms = (deadlineMs(state) ?? nowMs) - nowMs
      pass(ms)
      return ms
    },
    last: () => last,
    asked: () => last.find((effect) => 'query' in effect)?.query,
    told: () =>
      last.flatMap((effect) =>
        effect._tag === 'Tell'
          ? effect.changes.map(({ _tag, object }) => `${_tag} ${object.name} ${object.uid}`)
          : [],
      ),
  }
}

const sight = (name: string, uid = `${name}-1`, version = `${uid}-v1`, group?: string) => ({
  name,
  uid,
  resourceVersion: version,
  group,
  value: 1,
})
const page = (items: ReadonlyArray<Sighting<number>>, resourceVersion = 'r', next?: string) => ({
  _tag: 'Listed' as const,
  items,
  resourceVersion,
  next,
})
const failed = (failure: Failure) => ({ _tag: 'Failed' as const, failure })
const refused = (status: number, retryAfterMs?: number) =>
  failed({ _tag: 'Refused', status, message: 'no', retryAfterMs })
const unreachable = failed({ _tag: 'Unreachable', message: 'connection refused' })
const garbled = failed({ _tag: 'Malformed', message: '?' })
const silent = failed({ _tag: 'Silent', message: 'nothing for 90 s' })
const bookmark = (resourceVersion: string, endsInitialEvents = false) => ({
  _tag: 'Bookmarked' as const,
  resourceVersion,
  endsInitialEvents,
})

/** One that has listed these, and watches. */
const watching = (
  items: ReadonlyArray<Sighting<number>> = [],
  beginning: Partial<Beginning> = {},
): Driven => {
  const one = driven(beginning)
  one.hear(page(items))
  return one
}

describe('lists', () => {
  test('pages follow each other by their tokens alone, and a watch follows from the version of the first', () => {
    const one = driven()
    expect(one.asked()).toEqual({ limit: '2' })
    one.hear(page([sight('n/a'), sight('n/b')], 'r1', 'token'))
    expect(one.asked()).toEqual({ limit: '2', continue: 'token' })
    expect(one.told()).toEqual([])
    one.hear(page([sight('n/c')], 'r1'))
    expect(one.told()).toEqual(['Added n/a n/a-1', 'Added n/b n/b-1', 'Added n/c n/c-1'])
    expect(one.asked()).toMatchObject({ watch: 'true', allowWatchBookmarks: 'true' })
    expect(one.asked()).toMatchObject({ resourceVersion: 'r1' })
  })

  test('a watch lasts between five and ten minutes, by the seed', () => {
    const seconds = [1, 2, 3, 4].map((entropy) =>
      Number(watching([], { entropy }).asked()?.timeoutSeconds),
    )
    for (const each of seconds) {
      expect(each).toBeGreaterThanOrEqual(300)
      expect(each).toBeLessThan(600)
    }
    expect(new Set(seconds).size).toBe(4)
  })

  test('410 on a page begins again with the first one, and then without pages', () => {
    const one = driven()
    one.hear(page([sight('n/a')], 'r1', 'token'))
    one.hear(refused(410))
    expect(one.asked()).toEqual({ limit: '2' })
    one.hear(page([sight('n/b')], 'r2', 'token'))
    one.hear(refused(410))
    one.wait()
    expect(one.asked()).toEqual({})
    one.hear(page([sight('n/b')], 'r3'))
    expect(one.told()).toEqual(['Added n/b n/b-1'])
  })

  test('everything is listed again when that is due, and what vanished is told first', () => {
    const one = watching([sight('n/b'), sight('n/c')], { relistMs: 60_000 })
    const waited = one.wait()
    expect(waited).toBeGreaterThanOrEqual(60_000)
    expect(waited).toBeLessThan(66_001)
    expect(one.asked()).toEqual({ limit: '2' })
    one.hear(page([sight('n/a'), sight('n/b')], 'r2'))
    expect(one.told()).toEqual(['Deleted n/c n/c-1', 'Added n/a n/a-1'])
  })

  test('an object that was deleted and made again in a gap is deleted, then added', () => {
    const one = watching([sight('n/a', 'old')])
    one.hear(refused(410))
    one.hear(page([sight('n/a', 'new')], 'r2'))
    expect(one.told()).toEqual(['Deleted n/a old', 'Added n/a new'])
    one.hear({ _tag: 'Applied', object: sight('n/a', 'newest') })
    expect(one.told()).toEqual(['Deleted n/a new', 'Added n/a newest'])
  })

  test('that an object of another uid is gone says nothing of the one that has its name', () => {
    const one = watching([sight('n/a', 'new')])
    one.hear({ _tag: 'Deleted', object: sight('n/a', 'old') })
    expect(one.told()).toEqual([])
    expect(heldBy(one.state())).toHaveLength(1)
  })
})

describe('watch-lists', () => {
  test('are complete at the bookmark that says so, and go on as a watch', () => {
    const one = driven({ watchList: true })
    expect(one.asked()).toMatchObject({
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    })
    expect(one.asked()).not.toHaveProperty('resourceVersion')
    one.hear({ _tag: 'Applied', object: sight('n/a') })
    one.hear({ _tag: 'Applied', object: sight('n/b') })
    one.hear({ _tag: 'Deleted', object: sight('n/b') })
    one.hear(bookmark('r1'))
    expect(one.state().isSynced).toBe(false)
    one.hear(bookmark('r2', true))
    expect(one.told()).toEqual(['Added n/a n/a-1'])
    expect(one.asked()).toBeUndefined()
    one.hear({ _tag: 'Deleted', object: sight('n/a', 'n/a-1', 'r3') })
    one.pass(400_000)
    one.hear({ _tag: 'Ended' })
    expect(one.asked()).toMatchObject({ resourceVersion: 'r3' })
  })

  test.each([400, 422])(
    'a server that answers %i has none, and is asked for pages from then on',
    (status) => {
      const one = driven({ watchList: true })
      one.hear(refused(status))
      expect(one.asked()).toEqual({ limit: '2' })
      expect(one.state().troubles).toBe(0)
      one.hear(page([]))
      one.hear(refused(410))
      expect(one.asked()).toEqual({ limit: '2' })
    },
  )

  test('a server that never says that this was all is asked for pages after a quiet quarter minute', () => {
    const one = driven({ watchList: true })
    one.pass(10_000)
    one.hear({ _tag: 'Applied', object: sight('n/a') })
    expect(one.wait()).toBe(15_000)
    expect(one.asked()).toEqual({ limit: '2' })
    one.hear(page([sight('n/b')]))
    expect(one.told()).toEqual(['Added n/b n/b-1'])
  })

  test('one that broke off in the middle is begun anew, and by pages if that happens again and again', () => {
    const one = driven({ watchList: true })
    for (const attempt of [1, 2]) {
      one.hear({ _tag: 'Applied', object: sight('n/a') })
      one.hear({ _tag: 'Ended' })
      if (attempt > 1) one.wait()
      expect(one.asked()).toMatchObject({ sendInitialEvents: 'true' })
    }
    one.hear({ _tag: 'Applied', object: sight('n/a') })
    one.hear(unreachable)
    one.wait()
    expect(one.asked()).toEqual({ limit: '2' })
    expect(one.state().isSynced).toBe(false)
  })
})

describe('watches', () => {
  test('the next one begins where the last word was, be it an event, a deletion or a bookmark', () => {
    const one = watching([sight('n/a')])
    const goesOn = (): string | undefined => {
      one.pass(300_000)
      one.hear({ _tag: 'Ended' })
      return one.asked()?.resourceVersion
    }
    one.hear({ _tag: 'Applied', object: sight('n/a', 'n/a-1', 'zz') })
    expect(goesOn()).toBe('zz')
    one.hear({ _tag: 'Deleted', object: sight('n/a', 'n/a-1', 'aa') })
    expect(goesOn()).toBe('aa')
    one.hear(bookmark('10'))
    expect(goesOn()).toBe('10')
    one.hear(bookmark('9'))
    expect(goesOn()).toBe('9')
    expect(one.state()).toMatchObject({ troubles: 0, trouble: undefined })
  })

  test('one that was silent is begun anew from where it was; after two without a word everything is listed', () => {
    const one = watching([])
    one.hear(bookmark('r1'))
    one.pass(90_000)
    one.hear(silent)
    expect(one.asked()).toMatchObject({ resourceVersion: 'r1' })
    one.hear(bookmark('r2'))
    one.pass(90_000)
    one.hear(silent)
    expect(one.asked()).toMatchObject({ resourceVersion: 'r2' })
    one.pass(90_000)
    one.hear(silent)
    expect(one.asked()).toEqual({ limit: '2' })
    expect(one.state().trouble).toBeUndefined()
    one.hear(page([]))
    one.pass(90_000)
    one.hear(silent)
    expect(one.asked()).toMatchObject({ resourceVersion: 'r' })
  })

  test('after three that ended as soon as they began everything is listed', () => {
    const one = watching([])
    one.hear({ _tag: 'Ended' })
    expect(one.asked()).toMatchObject({ resourceVersion: 'r' })
    one.hear({ _tag: 'Ended' })
    one.wait()
    expect(one.asked()).toMatchObject({ resourceVersion: 'r' })
    one.hear({ _tag: 'Ended' })
    one.wait()
    expect(one.asked()).toEqual({ limit: '2' })
  })

  test.each([
    ['410', refused(410)],
    ['400', refused(400)],
    ['404', refused(404)],
    ['something that cannot be read', garbled],
  ])('after %s only a list tells what is there', (_, event) => {
    const one = watching([sight('n/a')])
    one.hear(event)
    expect(one.asked()).toEqual({ limit: '2' })
    expect(heldBy(one.state())).toHaveLength(1)
  })

  test.each([401, 403, 429, 500, 503, 504])(
    'after %i the watch goes on from where it was',
    (status) => {
      const one = watching([sight('n/a')])
      one.hear(refused(status))
      expect(one.asked()).toMatchObject({ resourceVersion: 'r' })
      expect(heldBy(one.state())).toHaveLength(1)
    },
  )

  test('news of a request that is over comes too late', () => {
    const one = watching([sight('n/a')])
    const { attempt } = one.state()
    one.hear(refused(410))
    const listing = one.state()
    one.late({ attempt, _tag: 'Deleted', object: sight('n/a') })
    one.late({ attempt, _tag: 'Ended' })
    one.late({ attempt, ...refused(410) })
    expect(one.state()).toBe(listing)
  })
})

describe('failures', () => {
  test('waits double up to half a minute, and are spread over their upper half', () => {
    const waits = (entropy: number): ReadonlyArray<number> => {
      const one = driven({ entropy })
      return Array.from({ length: 10 }, () => {
        one.hear(unreachable)
        return one.asked() === undefined ? one.wait() : 0
      })
    }
    const ceilings = [0, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000]
    for (const entropy of [1, 2, 3])
      waits(entropy).forEach((ms, i) => {
        expect(ms).toBeGreaterThanOrEqual((ceilings[i] ?? 0) / 2)
        expect(ms).toBeLessThanOrEqual(ceilings[i] ?? 0)
      })
    expect(waits(1)).not.toEqual(waits(2))
    expect(waits(1)).toEqual(waits(1))
  })

  type Answer = Parameters<Driven['hear']>[0]
  test.each<readonly [string, (isList: boolean) => Answer]>([
    ['refuses everything', () => refused(500)],
    ['forgets at once what it has listed', (isList) => (isList ? page([]) : refused(410))],
    ['ends each watch at once', (isList) => (isList ? page([]) : { _tag: 'Ended' })],
    ['ends each watch at its first word', (isList) => (isList ? page([]) : refused(500))],
    ['lets each list expire', (isList) => (isList ? refused(410) : { _tag: 'Ended' })],
    ['says what nobody understands', (isList) => (isList ? page([]) : garbled)],
  ])('a server that %s is asked no more than some times a minute', (_, answer) => {
    const one = driven()
    let [requests, ms] = [0, 0]
    for (; ms < 3_600_000 && requests < 10_000;) {
      if (one.asked() === undefined) ms += one.wait()
      const query = one.asked()
      if (query === undefined) continue
      requests += 1
      // A word keeps a watch from being silent, and no more.
      if (query.watch !== undefined) one.hear(bookmark('r'))
      one.hear(answer(query.watch === undefined))
    }
    expect(requests).toBeGreaterThan(100)
    expect(requests).toBeLessThan(600)
  })

  test('a server that says when to come back is not asked before, up to two minutes', () => {
    const one = driven()
    one.hear(refused(429, 7_000))
    expect(one.asked()).toBeUndefined()
    expect(one.wait()).toBe(7_000)
    one.hear(refused(503, 3_600_000))
    expect(one.wait()).toBe(120_000)
    expect(one.asked()).toEqual({ limit: '2' })
  })

  test.each([
    [401, 'does not accept the credentials'],
    [403, 'RBAC does not allow it'],
    [404, 'Install its definition (of EdgeRoute: kubectl apply -k deploy)'],
  ])(
    '%i is told at once, what is held stays, and the server is asked again without end',
    (status, words) => {
      const one = watching([sight('n/a')])
      one.hear(refused(410))
      for (let i = 0; i < 20; i++) {
        one.hear(refused(status))
        const { trouble } = one.state()
        expect(trouble && showTrouble(trouble, 'things')).toContain(words)
        if (one.asked() === undefined) expect(one.wait()).toBeLessThanOrEqual(30_000)
        expect(one.asked()).toEqual({ limit: '2' })
      }
      expect(heldBy(one.state())).toHaveLength(1)
    },
  )

  test('a trouble is over when a watch has lasted', () => {
    const one = driven()
    one.hear(refused(403))
    one.hear(page([]))
    expect(one.state().trouble).toBeDefined()
    expect(one.wait()).toBe(5_000)
    expect(one.state()).toMatchObject({ trouble: undefined, troubles: 0 })
    expect(deadlineMs(one.state())).toBeUndefined()
  })

  test('a connection that broke once is nobody’s trouble; a server that stays away is', () => {
    const one = watching([])
    one.hear(unreachable)
    expect(one.state().trouble).toBeUndefined()
    one.hear(unreachable)
    expect(one.state().trouble).toMatchObject({ of: 'Watch' })
  })
})

describe('groups', () => {
  const grouped = (groups: ReadonlyArray<string>): Driven => {
    const one = watching([], { groups })
    return one
  }
  const wishes = (one: Driven) =>
    one.last().flatMap((effect) => (effect._tag === 'Fetch' ? effect.wish : []))

  test('one that is selected later is fetched, and one that is not wanted any more leaves', () => {
    const one = grouped(['n/a'])
    one.late({ _tag: 'Selected', add: ['n/b'], remove: [] })
    const [wish] = wishes(one)
    expect(wish).toMatchObject({ group: 'n/b' })
    if (wish === undefined) return
    one.late({ _tag: 'Fetched', wish, items: [sight('n/b1', 'u', 'v', 'n/b')] })
    expect(one.told()).toEqual(['Added n/b1 u'])
    one.late({ _tag: 'Selected', add: [], remove: ['n/b'] })
    expect(one.told()).toEqual(['Deleted n/b1 u'])
  })

  test('what the watch said since it was asked for is not undone by what was fetched', () => {
    const one = grouped([])
    one.late({ _tag: 'Selected', add: ['n/b'], remove: [] })
    const [wish] = wishes(one)
    if (wish === undefined) throw new Error('nothing was fetched')
    one.hear({ _tag: 'Applied', object: sight('n/b1', 'u', 'new', 'n/b') })
    one.hear({ _tag: 'Deleted', object: sight('n/b2', 'w', 'gone', 'n/b') })
    const items = ['n/b1', 'n/b2', 'n/b3'].map((name) => sight(name, 'u', 'old', 'n/b'))
    one.late({ _tag: 'Fetched', wish, items })
    expect(one.told()).toEqual(['Added n/b3 u'])
  })

  test('an answer to a wish that was given up in between says nothing', () => {
    const one = grouped([])
    one.late({ _tag: 'Selected', add: ['n/b'], remove: [] })
    const [first] = wishes(one)
    one.late({ _tag: 'Selected', add: [], remove: ['n/b'] })
    one.late({ _tag: 'Selected', add: ['n/b'], remove: [] })
    expect(wishes(one)).toHaveLength(1)
    if (first === undefined) throw new Error('nothing was fetched')
    one.late({ _tag: 'Fetched', wish: first, items: [sight('n/b1', 'u', 'old', 'n/b')] })
    expect(one.told()).toEqual([])
  })

  test('many at once are listed with all the others', () => {
    const one = grouped([])
    const add = Array.from({ length: 33 }, (_, i) => `n/${i}`)
    one.late({ _tag: 'Selected', add, remove: [] })
    expect(wishes(one)).toEqual([])
    expect(one.asked()).toEqual({ limit: '2' })
  })

  test('eight are fetched at once; with each answer, good or bad, the next one has its turn', () => {
    const one = grouped([])
    const add = Array.from({ length: 12 }, (_, i) => `n/${i}`)
    one.late({ _tag: 'Selected', add, remove: [] })
    const under = [...wishes(one)]
    expect(under.map(({ group }) => group)).toEqual(add.slice(0, 8))
    expect(deadlineMs(one.state())).toBeUndefined()
    const answer = (): void => {
      const wish = under.shift()
      if (wish === undefined) throw new Error('nothing was fetched')
      one.late({ _tag: 'Fetched', wish, items: [sight(`${wish.group}x`, 'u', 'v', wish.group)] })
      under.push(...wishes(one))
    }
    answer()
    expect(under.map(({ group }) => group)).toEqual(add.slice(1, 9))
    const [wish] = under.splice(0, 1)
    if (wish === undefined) throw new Error('nothing was fetched')
    one.late({ _tag: 'FetchFailed', wish, failure: { _tag: 'Unreachable', message: '' } })
    under.push(...wishes(one))
    expect(under).toHaveLength(8)
    for (let i = 0; i < 11; i += 1) answer()
    expect(under).toEqual([])
    expect(heldBy(one.state())).toHaveLength(12)
  })

  test('one that cannot be fetched three times in a row is listed with all the others', () => {
    const one = grouped([])
    one.late({ _tag: 'Selected', add: ['n/b'], remove: [] })
    for (const attempt of [1, 2, 3]) {
      const [wish] = wishes(one)
      if (wish === undefined) throw new Error(`attempt ${attempt} was not made`)
      one.late({ _tag: 'FetchFailed', wish, failure: { _tag: 'Unreachable', message: '' } })
      if (attempt > 1) one.wait()
    }
    expect(one.asked()).toEqual({ limit: '2' })
  })
})
