import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  memoryLogger,
  memoryMetrics,
  virtualClock,
  type VirtualClock,
} from '../../src/adapters/memory/index.js'
import {
  memoryRosterStore,
  type MemoryRosterStore,
} from '../../src/adapters/memory/roster-store.js'
import { maxIdLength, maxRosterNodes, type Roster } from '../../src/core/roster.js'
import { encodeRoster } from '../../src/core/roster/codec.js'
import { listeners } from '../../src/core/listeners.js'
import { type Standing, startWaitMs } from '../../src/core/start-gate.js'
import { clusterType } from '../../src/core/type-url.js'
import type { XdsEvent } from '../../src/core/xds/events.js'
import type { NodeMemory } from '../../src/core/xds/node-memory.js'
import type { StandingSource } from '../../src/host/keep-gate.js'
import { keepRoster, type RosterFact, type RosterKeeper } from '../../src/host/keep-roster.js'
import { closeWaitMs } from '../../src/host/kept-roster.js'
import { maxBackoffMs } from '../../src/host/backoff.js'
import { lookEveryMs, slowSaveMs } from '../../src/host/run-keeping.js'
import type { RosterStore } from '../../src/ports/roster-store.js'
import { aMemory, anEntry, aRoster } from '../support/roster.js'

interface World {
  readonly keeper: RosterKeeper
  readonly store: MemoryRosterStore
  readonly clock: VirtualClock
  readonly facts: ReadonlyArray<RosterFact>
  readonly admitted: ReadonlyArray<string>
  readonly memory: Map<string, NodeMemory>
  readonly connected: Set<string>
  readonly values: () => ReadonlyMap<string, number>
  readonly logged: () => ReadonlyArray<string>
  readonly come: (stream: string, id: string, cluster?: string) => void
  readonly nack: (stream: string) => void
  readonly go: (stream: string) => void
  readonly abort: () => void
  /** Lets time pass, and what has become due come to its end. */
  readonly pass: (ms?: number) => Promise<void>
  readonly disk: () => Roster
}

interface Options {
  readonly roster?: Roster
  readonly forgetNodeAfterMs?: number
  /** In place of the store in memory. */
  readonly other?: (store: MemoryRosterStore) => RosterStore
  readonly isAttached?: boolean
  readonly isBroken?: boolean
  readonly standing?: StandingSource
  readonly onFact?: (fact: RosterFact) => void
}

/** In so many steps time passes: a write is done in no time, and so is to end before a long time is over. */
const steps = 400

/** More turns than any chain of promises here has. */
const turn = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve()
}

const start = ({
  roster,
  other,
  forgetNodeAfterMs,
  isAttached = true,
  isBroken = false,
  standing,
  onFact,
}: Options = {}): World => {
  const store = memoryRosterStore(roster)
  if (isBroken) store.failWith({ message: 'no disk' })
  const clock = virtualClock(1_000_000)
  const [logger, metrics] = [memoryLogger(), memoryMetrics()]
  const facts: Array<RosterFact> = []
  const admitted: Array<string> = []
  const memory = new Map<string, NodeMemory>()
  const connected = new Set<string>()
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const keeper = keepRoster(
    {
      store: other?.(store) ?? store,
      clock,
      logger,
      metrics,
      random: () => 0,
      ...(standing !== undefined && { standing }),
      onFact: onFact ?? ((fact) => facts.push(fact)),
      ...(forgetNodeAfterMs !== undefined && { forgetNodeAfterMs }),
    },
    abort.signal,
  )
  void keeper.loaded.then((loaded) => {
    for (const [id, each] of loaded ?? []) memory.set(id, each)
    if (isAttached)
      keeper.attach({
        admit: (id) => admitted.push(id),
        memory: () => memory,
        forget: (id) =>
          connected.has(id) && memory.get(id)?.isShared !== true
            ? 'Connected'
            : memory.delete(id)
              ? 'Forgotten'
              : 'Unknown',
      })
  })
  const tell = (event: XdsEvent): void => keeper.observer(event)
  return {
    keeper,
    store,
    clock,
    facts,
    admitted,
    memory,
    connected,
    values: metrics.values,
    logged: () => logger.entries().map(({ level, message }) => `${level}: ${message}`),
    come: (stream, id, cluster = 'edge-envoy') => {
      connected.add(id)
      if (!memory.has(id)) memory.set(id, aMemory(id, { cluster }))
      tell({ _tag: 'StreamOpened', stream, variant: 'sotw', peer: 'somewhere' })
      const node = { id, cluster }
      tell({ _tag: 'NodeIdentified', stream, node, dataPlane: cluster, known: true })
    },
    nack: (stream) => {
      const error = { code: 3, message: 'no' }
      tell({
        _tag: 'ResponseNacked',
        stream,
        typeUrl: clusterType,
        nonce: '1',
        version: '1',
        error,
      })
    },
    go: (stream) => tell({ _tag: 'StreamClosed', stream, reason: 'gone' }),
    abort: () => abort.abort(),
    pass: async (ms = 0) => {
      await turn()
      for (let step = 0; step < steps; step += 1) {
        clock.advance(Math.floor((ms * (step + 1)) / steps) - Math.floor((ms * step) / steps))
        await turn()
      }
    },
    disk: () => {
      const text = store.text() ?? ''
      const nodes = (JSON.parse(text) as { nodes: ReadonlyArray<{ id: string }> }).nodes
      return new Map(nodes.map((each) => [each.id, { ...anEntry(each.id), ...each }]))
    },
  }
}

const begun = async (options: Options = {}): Promise<World> => {
  const world = start(options)
  await world.pass()
  world.keeper.sourcesRead()
  return world
}

const forgotten = async (world: World, id: string): Promise<unknown> => {
  const asked = world.keeper.forget(id)
  await world.pass()
  return asked
}

const isHung = (store: MemoryRosterStore): RosterStore => ({
  load: store.load,
  save: () => () => new Promise(() => undefined),
})

describe('reading the roster', () => {
  test('gives what a fleet starts with, and writes the roster once', async () => {
    const { keeper, store } = await begun({ roster: aRoster(anEntry('a', { isShared: true })) })
    const loaded = await keeper.loaded
    expect(loaded?.get('a')).toMatchObject({ isUnknown: true, isShared: true })
    expect(store.saves()).toBe(2)
  })

  test('keeps the gate closed until the first write has ended', async () => {
    let end: () => void = () => undefined
    const ending = new Promise<void>((resolve) => (end = resolve))
    const at = start({
      roster: aRoster(anEntry('a')),
      other: (store) => ({
        ...store,
        save: (roster) => () => ending.then(() => store.save(roster)()),
      }),
    })
    await at.pass()
    at.keeper.sourcesRead()
    at.come('s', 'a')
    await at.pass()
    expect(at.admitted).toEqual(['a'])
    expect(at.keeper.gate()).toMatchObject({ _tag: 'RosterUnsaved' })
    end()
    await at.pass()
    expect(at.keeper.gate()).toBeUndefined()
    expect(at.facts).toEqual([])
  })

  test('is looked at more rarely while the store asks to be left alone', async () => {
    let looks = 0
    const error = { _tag: 'Unavailable', message: 'busy', retryAfterMs: 2 * lookEveryMs } as const
    const at = start({
      other: (store) => ({
        ...store,
        isThere: () => () => {
          looks += 1
          return Promise.resolve(looks === 1 ? E.left(error) : E.right(true))
        },
      }),
    })
    await at.pass(3 * lookEveryMs - 1)
    expect(looks).toBe(1)
    await at.pass(lookEveryMs + 1_000)
    expect(looks).toBe(3)
  })

  test('of what was taken away meanwhile is found out within seconds, and made good', async () => {
    let isThere = true
    let saves = 0
    const at = start({
      roster: aRoster(anEntry('a')),
      other: (store) => ({
        ...store,
        isThere: () => () => Promise.resolve(E.right(isThere)),
        save: (roster) => {
          saves += 1
          isThere = true
          return store.save(roster)
        },
      }),
    })
    await at.pass(3 * lookEveryMs)
    expect(saves).toBe(1)
    isThere = false
    await at.pass(lookEveryMs)
    expect(saves).toBe(2)
    expect(at.facts.map(({ _tag }) => _tag)).toEqual(['FoundMissing', 'SavedAgain'])
  })

  test('that another process has taken over is told for what it is', async () => {
    const message = 'another has it'
    const at = start({
      other: (store) => ({
        ...store,
        save: () => () => Promise.resolve(E.left({ _tag: 'Superseded', message })),
      }),
    })
    await at.pass()
    expect(at.facts).toEqual([{ _tag: 'Superseded', message }])
    expect(at.keeper.gate()).toEqual({ _tag: 'RosterUnsaved', message })
  })

  test('is tried until it succeeds, is told once, and keeps the gate closed', async () => {
    const world = start({ isBroken: true })
    await world.pass(10_000)
    expect(world.keeper.gate()).toEqual({ _tag: 'RosterUnsaved', message: 'no disk' })
    expect(world.facts).toEqual([{ _tag: 'LoadFailed', message: 'no disk' }])
    world.store.failWith(undefined)
    await world.pass(30_000)
    await expect(world.keeper.loaded).resolves.toEqual(new Map())
    expect(world.keeper.gate()).toMatchObject({ _tag: 'Starting' })
  })

  test('waits as long as the store asks for, within bounds, before it is tried again', async () => {
    for (const [retryAfterMs, pauseMs] of [
      [20_000, 20_000],
      [10 * maxBackoffMs, maxBackoffMs],
    ] as const) {
      let tries = 0
      const error = { _tag: 'Unavailable', message: 'too much to do', retryAfterMs } as const
      const world = start({
        other: ({ save }) => ({
          save,
          load: () => () => {
            tries += 1
            return Promise.resolve(E.left(error))
          },
        }),
      })
      await world.pass(pauseMs - 1)
      expect(tries).toBe(1)
      await world.pass(1)
      expect(tries).toBe(2)
    }
  })

  test('of a store that rejects is a failure like any other', async () => {
    const world = start({
      other: () => ({
        load: () => () => Promise.reject(new Error('odd')),
        save: isHung(memoryRosterStore()).save,
      }),
    })
    await world.pass()
    expect(world.facts).toEqual([{ _tag: 'LoadFailed', message: 'Error: odd' }])
  })

  test('and writing it may throw at once, which is a failure too', async () => {
    const fail = (): never => {
      throw new Error('odd')
    }
    const unread = start({ other: () => ({ load: fail, save: fail }) })
    await unread.pass()
    expect(unread.facts).toEqual([{ _tag: 'LoadFailed', message: 'Error: odd' }])
    const unwritten = await begun({ other: ({ load }) => ({ load, save: fail }) })
    unwritten.come('1', 'a')
    await unwritten.pass()
    expect(unwritten.admitted).toEqual(['a'])
    expect(unwritten.keeper.gate()).toEqual({ _tag: 'RosterUnsaved', message: 'Error: odd' })
  })

  test('goes on whatever a listener throws', async () => {
    const onFact = (): never => {
      throw new Error('odd')
    }
    const world = start({ isBroken: true, onFact })
    await world.pass()
    world.abort()
    await expect(world.keeper.finished).resolves.toBeUndefined()
    await expect(world.keeper.loaded).resolves.toBeUndefined()
  })

  test('ends with the signal', async () => {
    const world = start({ isBroken: true })
    await world.pass()
    world.abort()
    await expect(world.keeper.loaded).resolves.toBeUndefined()
    await world.keeper.finished
    expect(world.clock.waiting()).toBe(0)
  })
})

describe('an Envoy that comes', () => {
  test('is admitted once it is written down', async () => {
    const world = await begun()
    world.come('1', 'a')
    expect(world.admitted).toEqual([])
    await world.pass()
    expect(world.admitted).toEqual(['a'])
    expect([...world.disk().keys()]).toEqual(['a'])
  })

  test('is admitted at once if it is on the roster', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.come('1', 'a')
    expect(world.admitted).toEqual(['a'])
    expect(world.store.saves()).toBe(2)
  })

  test('shares the next write with those that come meanwhile', async () => {
    const world = await begun()
    for (let i = 0; i < 100; i += 1) world.come(String(i), `envoy-${i}`)
    await world.pass()
    expect(world.admitted).toHaveLength(100)
    expect(world.store.saves()).toBe(3)
  })

  test('is written down as shared before its second connection is admitted', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.come('1', 'a')
    world.come('2', 'a')
    expect(world.admitted).toEqual(['a'])
    await world.pass()
    expect(world.admitted).toEqual(['a', 'a'])
    expect(world.disk().get('a')).toMatchObject({ isShared: true })
    expect(world.facts).toEqual([{ _tag: 'NodeShared', id: 'a' }])
    expect(world.values().get('edgewright_roster_shared_total')).toBe(1)
  })

  test('is no shared one when it comes back after its stream has ended', async () => {
    const world = await begun()
    world.come('1', 'a')
    world.go('1')
    world.come('2', 'a')
    await world.pass()
    expect(world.disk().get('a')).toMatchObject({ isShared: false })
    expect(world.admitted).toEqual(['a'])
  })

  test('before the fleet is named is admitted as soon as it is', async () => {
    const world = await begun({ isAttached: false })
    world.come('1', 'a')
    await world.pass()
    const admitted: Array<string> = []
    world.keeper.attach({
      admit: (id) => admitted.push(id),
      memory: () => new Map(),
      forget: () => 'Unknown',
    })
    expect(admitted).toEqual(['a'])
  })

  test('with an absurd id or cluster gets nothing, and is told of', async () => {
    const world = await begun()
    world.come('1', 'x'.repeat(maxIdLength + 1))
    world.come('2', 'y', 'x'.repeat(maxIdLength + 1))
    world.nack('1')
    world.come('3', 'x'.repeat(maxIdLength))
    await world.pass(5_000)
    expect(world.admitted).toEqual(['x'.repeat(maxIdLength)])
    expect([...world.disk().keys()]).toEqual(['x'.repeat(maxIdLength)])
    expect(world.values().get('edgewright_roster_refused_total')).toBe(2)
  })
})

describe('a roster that cannot be written', () => {
  test('lets Envoys be served, closes the gate, says so once, and is tried again', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.come('1', 'a')
    expect(world.keeper.gate()).toBeUndefined()
    world.store.failWith({ message: 'disk full' })
    world.come('2', 'b')
    await world.pass()
    expect(world.admitted).toEqual(['a', 'b'])
    world.come('3', 'c')
    expect(world.admitted).toEqual(['a', 'b', 'c'])
    await world.pass(300_000)
    expect(world.keeper.gate()).toEqual({ _tag: 'RosterUnsaved', message: 'disk full' })
    expect(world.values().get('edgewright_roster_unsaved')).toBe(1)
    world.store.failWith(undefined)
    await world.pass(30_000)
    expect(world.keeper.gate()).toBeUndefined()
    expect([...world.disk().keys()]).toEqual(['a', 'b', 'c'])
    expect(world.facts.map(({ _tag }) => _tag)).toEqual(['SaveFailed', 'SavedAgain'])
    expect(world.values().get('edgewright_roster_unsaved')).toBe(0)
  })

  test.each([
    [20_000, 20_000],
    [10 * maxBackoffMs, maxBackoffMs],
  ])(
    'by a store that asks to be left alone for %i ms is not tried before %i ms are over',
    async (retryAfterMs, pauseMs) => {
      let tries = 0
      const error = { _tag: 'Unavailable', message: 'too much to do', retryAfterMs } as const
      const world = start({
        other: ({ load }) => ({
          load,
          save: () => () => {
            tries += 1
            return Promise.resolve(E.left(error))
          },
        }),
      })
      await world.pass()
      expect(tries).toBe(1)
      // Nor for what has changed meanwhile.
      world.come('1', 'a')
      await world.pass(pauseMs - 1)
      expect([world.admitted, tries]).toEqual([['a'], 1])
      await world.pass(1)
      expect(tries).toBe(2)
    },
  )

  test('since a write does not end lets Envoys be served too', async () => {
    const world = await begun({ other: isHung })
    world.come('1', 'a')
    await world.pass(slowSaveMs - 1)
    expect(world.admitted).toEqual([])
    await world.pass(1)
    expect(world.admitted).toEqual(['a'])
    expect(world.keeper.gate()).toMatchObject({ _tag: 'RosterUnsaved' })
    world.come('2', 'b')
    expect(world.admitted).toEqual(['a', 'b'])
  })

  test('since it is too large says what to do', async () => {
    const many = Array.from({ length: maxRosterNodes }, (_, i) => anEntry(`envoy-${i}`))
    const world = await begun({ roster: aRoster(...many) })
    world.come('1', 'one more')
    await world.pass()
    expect(world.admitted).toEqual(['one more'])
    expect(world.keeper.gate()).toMatchObject({
      message: expect.stringContaining('forget those that are gone') as unknown,
    })
    const forgotten = world.keeper.forget('envoy-7')
    await world.pass()
    expect(await forgotten).toBe('Forgotten')
    expect(world.disk().has('one more')).toBe(true)
    expect(world.keeper.gate()).toMatchObject({ _tag: 'Starting' })
  })
})

describe('what Envoys refuse', () => {
  const doubts = { [clusterType]: ['x'] }
  const textWith = (roster: Roster): string => E.getOrElse(() => '')(encodeRoster(roster))

  test('is written at once, and then once a second', async () => {
    const world = await begun({ roster: aRoster(anEntry('a'), anEntry('b')) })
    world.come('1', 'a')
    world.come('2', 'b')
    world.memory.set('a', aMemory('a', { doubts }))
    world.nack('1')
    await world.pass()
    expect(world.store.text()).toBe(textWith(aRoster(anEntry('a', { doubts }), anEntry('b'))))
    world.memory.set('b', aMemory('b', { doubts }))
    world.nack('2')
    await world.pass(999)
    expect(world.store.saves()).toBe(3)
    await world.pass(1)
    expect(world.store.saves()).toBe(4)
    expect(world.store.text()).toBe(
      textWith(aRoster(anEntry('a', { doubts }), anEntry('b', { doubts }))),
    )
  })

  test('and what was in flight when a stream ended, is written at the end', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.come('1', 'a')
    await world.pass()
    world.memory.set('a', aMemory('a', { doubts }))
    world.abort()
    await world.keeper.finished
    expect(world.store.text()).toBe(textWith(aRoster(anEntry('a', { doubts }))))
    expect(world.clock.waiting()).toBe(0)
  })

  test('does not keep the end waiting for ever', async () => {
    const world = await begun({ other: isHung })
    world.abort()
    await world.pass(closeWaitMs)
    await world.keeper.finished
    expect(world.facts.at(-1)).toMatchObject({ _tag: 'LastSaveFailed' })
  })

  test('is written at the end although the first tries fail', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.come('1', 'a')
    world.memory.set('a', aMemory('a', { doubts }))
    world.store.failWith({ message: 'not now' })
    world.abort()
    await world.pass(100)
    world.store.failWith(undefined)
    await world.pass(1_000)
    await world.keeper.finished
    expect(world.store.text()).toBe(textWith(aRoster(anEntry('a', { doubts }))))
  })
})

describe('the gate of a start', () => {
  test('opens when every known node has come, and calls its listeners', async () => {
    const world = await begun({ roster: aRoster(anEntry('a'), anEntry('b')) })
    let rung = 0
    world.keeper.onChange(() => (rung += 1))
    world.come('1', 'a')
    expect(world.keeper.gate()).toMatchObject({
      _tag: 'Starting',
      untilMs: 1_000_000 + startWaitMs,
    })
    world.come('2', 'b')
    expect(world.keeper.gate()).toBeUndefined()
    expect(rung).toBeGreaterThan(0)
  })

  test('opens with time, and calls its listeners then', async () => {
    const world = await begun()
    world.come('1', 'a')
    await world.pass(startWaitMs - 1)
    let rung = 0
    world.keeper.onChange(() => (rung += 1))
    expect(world.keeper.gate()).toMatchObject({ _tag: 'Starting' })
    await world.pass(1)
    expect(world.keeper.gate()).toBeUndefined()
    expect(rung).toBe(1)
  })

  test('does not open before the sources are read', async () => {
    const world = start()
    await world.pass(2 * startWaitMs)
    expect(world.keeper.gate()).toMatchObject({ _tag: 'Starting' })
    world.keeper.sourcesRead()
    expect(world.keeper.gate()).toBeUndefined()
  })
})

describe('the gate of a start beside other control planes', () => {
  const beside = async (given: Standing) => {
    let now = given
    const { ring, listen } = listeners()
    const world = await begun({
      roster: aRoster(anEntry('a')),
      standing: { standing: () => now, onStandingChange: listen },
    })
    const become = (next: Standing): void => {
      now = next
      ring()
    }
    let rung = 0
    world.keeper.onChange(() => (rung += 1))
    return { ...world, become, rung: () => rung, gate: () => world.keeper.gate() }
  }

  test('does not open early after one that may still serve, although every known node has come', async () => {
    const startMs = 1_000_000
    const world = await beside({ _tag: 'Successor', sinceMs: startMs - 5_000 })
    world.come('1', 'a')
    // The one before takes in another that is not on the list.
    await world.pass(startWaitMs - 1)
    expect(world.gate()).toEqual({ _tag: 'Starting', untilMs: startMs + startWaitMs })
    const before = world.rung()
    await world.pass(1)
    expect(world.gate()).toBeUndefined()
    expect(world.rung()).toBeGreaterThan(before)
  })

  test('is closed while it is not known whether another is at work, and says so', async () => {
    const message = 'the Lease is not held'
    const world = await beside({ _tag: 'Unknown', message })
    world.come('1', 'a')
    await world.pass(2 * startWaitMs)
    expect(world.gate()).toEqual({ _tag: 'NotHolding', message })
    const before = world.rung()
    world.become({ _tag: 'Alone' })
    expect(world.gate()).toBeUndefined()
    expect(world.rung()).toBe(before + 1)
    world.become({ _tag: 'Unknown', message })
    expect(world.gate()).toEqual({ _tag: 'NotHolding', message })
  })

  test('says that it is not the one that counts, and not that the list cannot be written, which follows from that', async () => {
    const world = await beside({ _tag: 'Unknown', message: 'the Lease is not held' })
    world.store.failWith({ only: 'Save', message: 'not sent' })
    world.come('1', 'b')
    await world.pass(1_000)
    expect(world.gate()).toMatchObject({ _tag: 'NotHolding' })
    world.become({ _tag: 'Alone' })
    expect(world.gate()).toEqual({ _tag: 'RosterUnsaved', message: 'not sent' })
  })

  test('waits from the succession on where that is later than the start, and opens by itself', async () => {
    const world = await beside({ _tag: 'Unknown', message: 'nobody answers' })
    world.come('1', 'a')
    await world.pass(2 * startWaitMs)
    const sinceMs = world.clock.nowMs()
    world.become({ _tag: 'Successor', sinceMs })
    expect(world.gate()).toEqual({ _tag: 'Starting', untilMs: sinceMs + startWaitMs })
    const before = world.rung()
    await world.pass(startWaitMs)
    expect(world.rung()).toBeGreaterThan(before)
    expect(world.gate()).toBeUndefined()
  })

  test('leaves no listener and no timer behind', async () => {
    const world = await beside({ _tag: 'Successor', sinceMs: 1_000_000 })
    world.abort()
    await world.keeper.finished
    const before = world.rung()
    world.become({ _tag: 'Alone' })
    expect(world.rung()).toBe(before)
    expect(world.clock.waiting()).toBe(0)
  })
})

describe('a lost Envoy', () => {
  test('is forgotten for good when a person says so', async () => {
    const world = await begun({ roster: aRoster(anEntry('a'), anEntry('b')) })
    world.come('1', 'b')
    const asked = ['a', 'b', 'c'].map((id) => world.keeper.forget(id))
    await world.pass()
    expect(await Promise.all(asked)).toEqual(['Forgotten', 'Connected', 'Unknown'])
    expect([...world.disk().keys()]).toEqual(['b'])
    expect(world.facts).toEqual([{ _tag: 'NodeForgotten', id: 'a', by: 'Person' }])
    expect(world.values().get('edgewright_roster_forgotten_total{by="person"}')).toBe(1)
    expect(world.keeper.gate()).toBeUndefined()
  })

  test('that cannot be struck off the disk is told as such, and is struck off later', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.store.failWith({ message: 'disk full' })
    const asked = world.keeper.forget('a')
    await world.pass()
    expect(await asked).toEqual({ failure: 'disk full' })
    world.store.failWith(undefined)
    await world.pass(30_000)
    expect(world.disk().size).toBe(0)
  })

  test('is struck off at once although the last write has failed', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    world.store.failWith({ message: 'disk full' })
    world.come('1', 'b')
    await world.pass(60_000)
    world.store.failWith(undefined)
    const asked = world.keeper.forget('a')
    await world.pass()
    expect(await asked).toBe('Forgotten')
  })

  test('cannot be forgotten before there is a fleet', async () => {
    const world = await begun({ isAttached: false, roster: aRoster(anEntry('a')) })
    expect(await world.keeper.forget('a')).toMatchObject({ failure: expect.any(String) as unknown })
    expect(world.keeper.roster().has('a')).toBe(true)
  })

  test('is never forgotten by itself', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    await world.pass(365 * 24 * 3_600_000)
    expect(world.disk().has('a')).toBe(true)
  })

  test('is forgotten after the time that was asked for, and not when it comes back meanwhile', async () => {
    const month = 30 * 24 * 3_600_000
    const roster = aRoster(anEntry('a'), anEntry('b'))
    const world = await begun({ roster, forgetNodeAfterMs: month })
    await world.pass(1_000)
    world.come('1', 'b')
    world.come('2', 'c')
    world.come('3', 'c')
    await world.pass(1_000)
    world.connected.delete('b')
    world.go('1')
    world.go('2')
    await world.pass(month - 2_001)
    expect([...world.disk().keys()]).toEqual(['a', 'b', 'c'])
    await world.pass(1)
    expect([...world.disk().keys()]).toEqual(['b', 'c'])
    await world.pass(2_000)
    expect([...world.disk().keys()]).toEqual(['c'])
    expect(world.facts.filter(({ _tag }) => _tag === 'NodeForgotten')).toEqual([
      { _tag: 'NodeForgotten', id: 'a', by: 'Time' },
      { _tag: 'NodeForgotten', id: 'b', by: 'Time' },
    ])
  })

  test('is shared no more when the others of its id are forgotten and it alone is connected', async () => {
    const world = await begun({ roster: aRoster(anEntry('a', { isShared: true })) })
    world.come('1', 'a')
    world.come('2', 'a')
    expect(await forgotten(world, 'a')).toBe('Forgotten')
    expect(world.disk().get('a')).toMatchObject({ isShared: true })
    world.go('2')
    world.memory.set('a', aMemory('a', { isShared: true }))
    expect(await forgotten(world, 'a')).toBe('Forgotten')
    expect(world.disk().get('a')).toMatchObject({ isShared: false })
    world.come('3', 'a')
    await world.pass()
    expect(world.disk().get('a')).toMatchObject({ isShared: true })
  })

  test('whose id another one still has is forgotten so long after the last was lost', async () => {
    const day = 24 * 3_600_000
    const world = await begun({ forgetNodeAfterMs: day })
    for (const stream of ['1', '2', '3']) world.come(stream, 'a')
    world.memory.set('a', aMemory('a', { isShared: true }))
    world.go('1')
    await world.pass(1_000)
    world.go('2')
    await world.pass(day - 1)
    expect(world.disk().get('a')).toMatchObject({ isShared: true })
    await world.pass(1)
    expect(world.disk().get('a')).toMatchObject({ isShared: false })
    expect(world.facts.at(-1)).toEqual({ _tag: 'NodeForgotten', id: 'a', by: 'Time' })
  })

  test('that shared its id before the start is forgotten although another one is back', async () => {
    const day = 24 * 3_600_000
    const roster = aRoster(anEntry('a', { isShared: true }))
    const world = await begun({ roster, forgetNodeAfterMs: day })
    world.come('1', 'a')
    await world.pass(day)
    expect(world.disk().get('a')).toMatchObject({ isShared: false })
  })

  test('is waited for with timers that a machine can take', async () => {
    const world = await begun({ roster: aRoster(anEntry('a')) })
    const delays: Array<number> = []
    const clock = {
      nowMs: world.clock.nowMs,
      after: (ms: number, callback: () => void) => {
        delays.push(ms)
        return world.clock.after(ms, callback)
      },
    }
    const stop = new AbortController()
    const keeper = keepRoster(
      { store: world.store, clock, forgetNodeAfterMs: 2 ** 40 },
      stop.signal,
    )
    await keeper.loaded
    keeper.attach({ admit: () => undefined, memory: () => new Map(), forget: () => 'Forgotten' })
    await world.pass(24 * 3_600_000)
    stop.abort()
    expect(keeper.roster().has('a')).toBe(true)
    expect(Math.max(...delays)).toBeLessThan(2 ** 31)
  })
})
