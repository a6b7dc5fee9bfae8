import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  type ApiFaults,
  expired,
  type MemoryApiServer,
  memoryApiServer,
  type MemoryApiServerOptions,
  type WatchEvent,
} from '../../src/adapters/memory/api-server/index.js'
import { type VirtualClock, virtualClock } from '../../src/adapters/memory/clock.js'

interface World {
  readonly clock: VirtualClock
  readonly server: MemoryApiServer
  readonly put: (name: string) => void
  readonly remove: (name: string) => void
}

const worldOf = (options: Partial<MemoryApiServerOptions> = {}): World => {
  const clock = virtualClock()
  const server = memoryApiServer({ clock, ...options })
  const keyOf = (name: string) => ({ namespace: 'shop', name })
  return {
    clock,
    server,
    put: (name) => {
      const before = server.get(keyOf(name))
      const object = before ?? { metadata: keyOf(name), spec: 0 }
      const spec = Number(object.spec) + 1
      server.write({ _tag: before ? 'Update' : 'Create', object: { ...object, spec } })
    },
    remove: (name) => {
      server.write({ _tag: 'Delete', key: keyOf(name) })
    },
  }
}

const show = (event: WatchEvent): string => {
  switch (event.type) {
    case 'BOOKMARK':
      return `BOOKMARK ${event.resourceVersion}`
    case 'ERROR':
      return `ERROR ${event.error.code}`
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return `${event.type} ${event.object.metadata.name} ${event.object.metadata.resourceVersion}`
  }
}

/** What a watch was told, its end included. */
const watched = (
  { server }: World,
  from: string | undefined,
): { readonly told: ReadonlyArray<string>; readonly stop: () => void } => {
  const told: Array<string> = []
  const stop = server.connect('client').watch(from, {
    onEvent: (event) => told.push(show(event)),
    onEnd: (end) => told.push(E.isLeft(end) ? `refused ${end.left.code}` : 'closed'),
  })
  return { told, stop }
}

describe('a watch', () => {
  test('is told all changes since its version, in their order, then each one within the write', () => {
    const world = worldOf()
    world.put('a')
    world.put('b')
    world.put('a')
    world.remove('b')
    const { told } = watched(world, '2')
    expect(told).toEqual(['ADDED b 3', 'MODIFIED a 4', 'DELETED b 5'])
    world.put('b')
    expect(told.slice(3)).toEqual(['ADDED b 6'])
  })

  test('without a version is told first that everything there was added', () => {
    const world = worldOf()
    world.put('b')
    world.put('a')
    world.put('c')
    world.remove('c')
    expect(watched(world, undefined).told).toEqual(['ADDED a 3', 'ADDED b 2'])
    expect(watched(world, '0').told).toEqual(['ADDED a 3', 'ADDED b 2'])
  })

  test('from before the history is told 410 and ends; from its very beginning it is not', () => {
    const world = worldOf({ historyLimit: 2 })
    expect(watched(world, '1').told).toEqual([])
    for (const name of ['a', 'b', 'c']) world.put(name)
    expect(watched(world, '2').told).toEqual(['ADDED b 3', 'ADDED c 4'])
    expect(watched(world, '1').told).toEqual(['ERROR 410', 'closed'])
    world.server.forget()
    expect(watched(world, '3').told).toEqual(['ERROR 410', 'closed'])
    expect(watched(world, '4').told).toEqual([])
  })

  test('from a version that never was is refused', () => {
    expect(watched(worldOf(), '2').told).toEqual(['refused 504'])
    expect(watched(worldOf(), 'x').told).toEqual(['refused 400'])
  })

  test('is told by bookmarks how far it is, each minute and when it is asked for', () => {
    const world = worldOf()
    const { told, stop } = watched(world, '1')
    world.clock.advance(60_000)
    world.put('a')
    world.server.bookmark()
    world.clock.advance(60_000)
    expect(told).toEqual(['BOOKMARK 1', 'ADDED a 2', 'BOOKMARK 2', 'BOOKMARK 2'])
    stop()
    expect(world.clock.waiting()).toBe(0)
    const silent = watched(worldOf({ bookmarkMs: 0 }), '1')
    world.clock.advance(600_000)
    expect(silent.told).toEqual([])
  })

  test('that is stopped hears nothing more, not even what is on its way', () => {
    const world = worldOf({ faults: { ofEvent: () => ({ delayMs: 10 }) } })
    const { told, stop } = watched(world, '1')
    world.put('a')
    stop()
    world.clock.advance(10)
    world.put('b')
    world.server.disturb('Close')
    world.clock.advance(10)
    expect(told).toEqual([])
    expect(world.clock.waiting()).toBe(0)
  })

  test('hears everything in order where it writes itself, and so does every other', () => {
    const world = worldOf()
    const told: Array<string> = []
    world.server.connect('writer').watch('1', {
      onEvent: (event) => {
        if (show(event) === 'ADDED a 2') world.put('b')
        if (show(event) === 'ADDED b 3') world.server.bookmark()
        told.push(show(event))
      },
      onEnd: () => undefined,
    })
    const other = watched(world, '1')
    world.put('a')
    expect(told).toEqual(['ADDED a 2', 'ADDED b 3', 'BOOKMARK 3'])
    expect(other.told).toEqual(told)
  })
})

describe('an event', () => {
  /** The fates of the first events; all others arrive. */
  const fates = (
    ...of: ReadonlyArray<ReturnType<NonNullable<ApiFaults['ofEvent']>>>
  ): ApiFaults => {
    const left = [...of]
    return { ofEvent: () => left.shift() }
  }

  test('may be lost, or come again', () => {
    const world = worldOf({ faults: fates({ copies: 0 }, { copies: 2 }) })
    const { told } = watched(world, '1')
    for (const name of ['a', 'b', 'c']) world.put(name)
    expect(told).toEqual(['ADDED b 3', 'ADDED b 3', 'ADDED c 4'])
  })

  test('that is late holds up those behind it, since none overtakes another', () => {
    const world = worldOf({ faults: fates({ delayMs: 10 }, { delayMs: 5 }, { delayMs: 20 }) })
    const { told } = watched(world, '1')
    for (const name of ['a', 'b', 'c']) world.put(name)
    world.clock.advance(9)
    expect(told).toEqual([])
    world.clock.advance(1)
    expect(told).toEqual(['ADDED a 2', 'ADDED b 3'])
    world.clock.advance(10)
    expect(told).toEqual(['ADDED a 2', 'ADDED b 3', 'ADDED c 4'])
  })

  test.each([
    ['Close', ['ADDED a 2', 'closed']],
    ['Gone', ['ADDED a 2', 'ERROR 410', 'closed']],
    ['Fail', ['ADDED a 2', 'ERROR 500', 'closed']],
    ['Freeze', ['ADDED a 2']],
  ] as const)('may be the last one: %s', (then, expected) => {
    const world = worldOf({ faults: fates({ then }) })
    const { told } = watched(world, '1')
    world.put('a')
    world.put('b')
    world.server.bookmark()
    world.server.disturb('Close')
    expect(told).toEqual(expected)
  })

  test('a disturbance comes behind what is on its way, and to the named client only', () => {
    const world = worldOf({ faults: fates({ delayMs: 10 }) })
    const { told } = watched(world, '1')
    world.put('a')
    world.server.disturb('Close', 'another')
    world.server.disturb('Gone', 'client')
    expect(told).toEqual([])
    world.clock.advance(10)
    expect(told).toEqual(['ADDED a 2', 'ERROR 410', 'closed'])
  })
})

describe('a request', () => {
  const object = { metadata: { namespace: 'shop', name: 'a' } }
  const create = { _tag: 'Create', object } as const

  test('may be slow both ways: it takes effect in between', () => {
    const world = worldOf({ faults: { ofRequest: () => ({ requestMs: 10, answerMs: 20 }) } })
    const codes: Array<string> = []
    const connection = world.server.connect('client')
    connection.write(create, ({ _tag }) => codes.push(_tag))
    world.clock.advance(9)
    expect(world.server.get(object.metadata)).toBeUndefined()
    world.clock.advance(1)
    expect(world.server.get(object.metadata)).toBeDefined()
    expect(codes).toEqual([])
    world.clock.advance(20)
    expect(codes).toEqual(['Right'])
  })

  test.each([
    ['before', false],
    ['after', true],
  ] as const)('may fail %s it takes effect', (fails, isThere) => {
    const asked: Array<string> = []
    const world = worldOf({
      faults: {
        ofRequest: ({ _tag }, client) => {
          asked.push(`${client} ${_tag}`)
          return { fails }
        },
      },
    })
    const codes: Array<unknown> = []
    world.server.connect('client').write(create, (answer) => {
      codes.push(E.isLeft(answer) && answer.left.code)
    })
    expect(codes).toEqual([504])
    expect(world.server.get(object.metadata) !== undefined).toBe(isThere)
    expect(asked).toEqual(['client Create'])
  })

  test('to watch may be refused with 410 in place of a stream, and may be slow', () => {
    const answers = [
      { fails: 'before', error: expired('too old') } as const,
      { requestMs: 5, answerMs: 5 },
      { requestMs: 5 },
    ]
    const world = worldOf({ faults: { ofRequest: () => answers.shift() } })
    expect(watched(world, '1').told).toEqual(['refused 410'])
    const slow = watched(world, '1')
    const stopped = watched(world, '1')
    stopped.stop()
    world.put('a')
    expect(slow.told).toEqual([])
    world.clock.advance(10)
    expect(slow.told).toEqual(['ADDED a 2'])
    expect(stopped.told).toEqual([])
  })

  test('for a list may be answered by a server that lags behind', () => {
    const behinds = [1, 2, 3, 9]
    const world = worldOf({
      historyLimit: 3,
      faults: { ofRequest: () => ({ behind: behinds.shift() ?? 0 }) },
    })
    for (const name of ['a', 'b', 'a']) world.put(name)
    world.remove('b')
    const lists: Array<unknown> = []
    for (let i = 0; i < 5; i++)
      world.server.connect('client').list((answer) => {
        if (E.isLeft(answer)) throw new Error('a list is never refused')
        const { resourceVersion, items } = answer.right
        lists.push([
          resourceVersion,
          ...items.map(({ metadata, spec }) => metadata.name + String(spec)),
        ])
      })
    expect(lists).toEqual([
      ['4', 'a2', 'b1'],
      ['3', 'a1', 'b1'],
      ['2', 'a1'],
      ['2', 'a1'],
      ['5', 'a2'],
    ])
  })
})
