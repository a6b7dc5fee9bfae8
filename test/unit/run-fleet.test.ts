import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/adapters/memory/index.js'
import { clusterType } from '../../src/core/type-url.js'
import type { XdsEvent } from '../../src/core/xds/events.js'
import { emptyFleet, nextTimer, step } from '../../src/core/xds/fleet.js'
import type { DeltaRequest } from '../../src/core/xds/messages.js'
import type { FleetStream } from '../../src/core/xds/open-streams.js'
import {
  type Fault,
  type FleetMachine,
  type RunningFleet,
  runFleet,
} from '../../src/core/xds/run-fleet.js'
import { aNode, aSnapshot, showResponse } from '../support/xds.js'

interface World {
  readonly fleet: RunningFleet
  /** What the streams were told, what was observed, and what failed, in order. */
  readonly log: ReadonlyArray<string>
  /** Opens a stream; what it does instead of what a good one does may be given. */
  readonly open: (id: string, odd?: Partial<FleetStream>) => void
  readonly ask: (id: string, fields?: Partial<DeltaRequest>) => void
}

const request: DeltaRequest = {
  _tag: 'Delta',
  node: aNode,
  typeUrl: clusterType,
  subscribe: [],
  unsubscribe: [],
  initialResourceVersions: new Map(),
  responseNonce: '',
  errorDetail: undefined,
}

const start = (
  observe: (event: XdsEvent, fleet: RunningFleet) => void = () => undefined,
  stepOf: FleetMachine['step'] = step,
): World => {
  const log: Array<string> = []
  const fleet: RunningFleet = runFleet(
    { initial: emptyFleet, step: stepOf, nextTimer },
    virtualClock(),
    {
      observe: (event) => {
        log.push(`${event.stream} ${event._tag}`)
        observe(event, fleet)
      },
      onFault: (fault) => log.push(showFault(fault)),
    },
  )
  const open: World['open'] = (id, odd = {}) =>
    fleet.open(id, {
      variant: 'delta',
      peer: `peer of ${id}`,
      send: (response) => {
        log.push(`${id} < ${showResponse(response)}`)
        return 1
      },
      end: (reason) => log.push(`${id} < end, ${reason}`),
      ...odd,
    })
  return { fleet, log, open, ask: (id, of) => fleet.receive(id, { ...request, ...of }) }
}

const showFault = (fault: Fault): string =>
  `fault: ${fault._tag} ${'stream' in fault ? fault.stream : ''}, ${String(fault.error)}`

const fail = (): never => {
  throw new Error('out of order')
}

const internal = 'INTERNAL: the control plane failed on this stream; its log says how'

/** A world with streams that have asked for clusters, and an empty log. */
const withStreams = (world: World, odd: Readonly<Record<string, Partial<FleetStream>>>): World => {
  for (const [id, parts] of Object.entries(odd)) {
    world.open(id, parts)
    world.ask(id)
  }
  return world
}

const since = (world: World, act: () => void): ReadonlyArray<string> => {
  const before = world.log.length
  act()
  return world.log.slice(before)
}

describe('what fails for one stream', () => {
  test('in the middle of a publish ends that stream with INTERNAL, and harms no other', () => {
    const world = withStreams(start(), { 1: {}, 2: { send: fail }, 3: {} })
    expect(since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))).toEqual([
      ...['1 NodeIdentified', '1 < cds a', '1 ResponseSent'],
      ...['2 NodeIdentified', 'fault: StreamFailed 2, Error: out of order', `2 < end, ${internal}`],
      ...['3 NodeIdentified', '3 < cds a', '3 ResponseSent'],
      '2 StreamClosed',
    ])
    expect(world.fleet.streams()).toBe(2)
  })

  test('even when it is ended, ends it', () => {
    const world = withStreams(start(), { 1: { send: fail, end: fail }, 2: {} })
    const lines = since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))
    expect(lines.filter((line) => line.startsWith('fault: StreamFailed 1'))).toHaveLength(2)
    expect(lines).toContain('2 < cds a')
    expect(lines.at(-1)).toBe('1 StreamClosed')
    expect(world.fleet.streams()).toBe(1)
  })

  test.each(['StreamOpened', 'RequestReceived', 'StreamClosed'] as const)(
    'in the machine, on %s, changes nothing for another one',
    (tag) => {
      const world = start(undefined, (state, event) =>
        event._tag === tag && 'stream' in event && event.stream === '2'
          ? fail()
          : step(state, event, 0),
      )
      withStreams(world, { 1: {}, 2: {}, 3: {} })
      world.fleet.close('2', 'the client ended it')
      const told = world.log.filter((line) => /^2 Stream(Opened|Closed)$/.test(line))
      expect(told).toEqual(['2 StreamOpened', '2 StreamClosed'])
      expect(world.log.filter((line) => line.startsWith('fault'))).toHaveLength(1)
      expect(since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))).toEqual([
        ...['1 NodeIdentified', '1 < cds a', '1 ResponseSent'],
        ...['3 NodeIdentified', '3 < cds a', '3 ResponseSent'],
      ])
    },
  )

  test('because the client breaks the protocol ends it, and it is not heard any more', () => {
    const world = start()
    world.fleet.publish(aSnapshot({ cds: 'a' }))
    world.open('7')
    world.ask('7', { node: undefined })
    world.ask('7')
    world.fleet.close('7', 'once more')
    expect(world.log).toEqual([
      '7 StreamOpened',
      '7 < end, INVALID_ARGUMENT: the first request of a stream must name its node',
      '7 StreamClosed',
    ])
  })
})

describe('an observer', () => {
  test('that throws hinders nothing, and what it threw is told', () => {
    const world = withStreams(
      start(({ _tag }) => (_tag === 'ResponseSent' ? fail() : undefined)),
      { 1: {}, 2: {} },
    )
    const fault = 'fault: ObserverThrew , Error: out of order'
    expect(since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))).toEqual([
      ...['1 NodeIdentified', '1 < cds a', '1 ResponseSent', fault],
      ...['2 NodeIdentified', '2 < cds a', '2 ResponseSent', fault],
    ])
  })

  test('may end every stream as one opens, and hears that it opened first, and closed last', () => {
    const world = start(({ _tag }, fleet) => {
      if (_tag === 'StreamOpened') fleet.endAll('enough')
    })
    world.open('1')
    expect(world.log).toEqual(['1 StreamOpened', '1 < end, enough', '1 StreamClosed'])
    world.fleet.publish(aSnapshot({ cds: 'a' }))
    world.ask('1')
    expect(world.log).toHaveLength(3)
  })

  test('may end every stream in the middle of a publish: those behind get nothing', () => {
    const world = withStreams(
      start(({ _tag }, fleet) => {
        if (_tag === 'ResponseSent') fleet.endAll('enough')
      }),
      { 1: {}, 2: {} },
    )
    expect(since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))).toEqual([
      ...['1 NodeIdentified', '1 < cds a', '1 ResponseSent'],
      ...['1 < end, enough', '2 < end, enough', '1 StreamClosed', '2 StreamClosed'],
    ])
  })

  test('may open a stream and be its client, in the turn of another one', () => {
    const world: World = start(({ _tag, stream }) => {
      if (_tag !== 'ResponseSent' || stream !== '1') return
      world.open('2')
      world.ask('2')
    })
    withStreams(world, { 1: {} })
    expect(since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))).toEqual([
      ...['1 NodeIdentified', '1 < cds a', '1 ResponseSent'],
      ...['2 StreamOpened', '2 NodeIdentified', '2 < cds a', '2 ResponseSent'],
    ])
  })
})

describe('a publish on which the machine fails', () => {
  const bad = aSnapshot({ cds: 'bad' })
  const stepOf: FleetMachine['step'] = (state, event) =>
    event._tag === 'SnapshotPublished' && event.snapshot === bad ? fail() : step(state, event, 0)

  test('throws to its caller, and what was published before is still the target', () => {
    const world = withStreams(start(undefined, stepOf), { 1: {} })
    world.fleet.publish(aSnapshot({ cds: 'a' }))
    expect(() => world.fleet.publish(bad)).toThrow('out of order')
    withStreams(world, { 2: {} })
    expect(world.log).toContain('2 < cds a')
  })

  test('of an observer hinders nobody, and is told', () => {
    const world = start(({ _tag }, fleet) => {
      if (_tag === 'NodeIdentified') fleet.publish(bad)
    }, stepOf)
    withStreams(world, { 1: {} })
    expect(since(world, () => world.fleet.publish(aSnapshot({ cds: 'a' })))).toEqual([
      ...['1 NodeIdentified', '1 < cds a', '1 ResponseSent'],
      'fault: PublishFailed , Error: out of order',
    ])
  })
})
