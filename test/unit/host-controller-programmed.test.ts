import { type ControllerPorts, runController } from 'edgewright/host'
import {
  memoryControlPlane,
  memoryLogger,
  memoryRouteSource,
  virtualClock,
} from 'edgewright/memory'
import { afterEach, describe, expect, test } from 'vitest'
import { defaultContext } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import { lagGraceMs } from '../../src/core/programmed.js'
import { showVerdict } from '../../src/core/status.js'
import { snapshotOf, type Translation } from '../../src/core/translate.js'
import { listenerType } from '../../src/core/type-url.js'
import { statusDelayMs } from '../../src/host/follow-ledger.js'
import type { LedgerSource } from '../../src/ports/ledger-source.js'
import { listeners } from '../../src/core/listeners.js'
import { aLedger, aRoute, type Forms, type NodeOptions } from '../support/ledger-nodes.js'

/** Lets all promises that wait for nothing go on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const running: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const stop of running.splice(0)) await stop()
})

/** What a sink is given, and what Envoys that are made by hand hold of it. */
const handMade = () => {
  const bell = listeners()
  let snapshot: Translation['snapshot'] | undefined
  let nodes: ReadonlyArray<NodeOptions> = []
  let looks = 0
  const ledger: LedgerSource = {
    ledger: () => {
      looks += 1
      return aLedger(snapshot, nodes)
    },
    onLedgerChange: bell.listen,
  }
  return {
    sink: { publish: (next: Translation['snapshot']) => void (snapshot = next) },
    ledger,
    hold: (holds: Forms, refuses: Readonly<Record<string, string>> = {}) => {
      nodes = [{ stream: '1', holds, refuses }]
      bell.ring()
    },
    ring: bell.ring,
    looks: () => looks,
  }
}

const start = (
  routes: ReadonlyArray<EdgeRoute>,
  given: Pick<ControllerPorts, 'sink' | 'ledger'> & Partial<ControllerPorts>,
  clock = virtualClock(),
) => {
  const logger = memoryLogger()
  const source = memoryRouteSource(routes)
  const reported: Array<Translation> = []
  const abort = new AbortController()
  const onVerdicts = (translation: Translation): void => void reported.push(translation)
  const ended = runController({ source, clock, logger, onVerdicts, ...given }, abort.signal)
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
  const said = (): ReadonlyArray<string> =>
    reported.map(({ verdicts }) =>
      [...verdicts.values()].map(({ uid, programmed }) => `${uid} ${programmed?._tag}`).join(),
    )
  return { clock, logger, source, reported, ended, stop, tick, said }
}

describe('with a ledger', () => {
  test('verdicts say how far the Envoys are, as soon as there are any and each time that changes', async () => {
    const hand = handMade()
    const { said, tick } = start([aRoute('a', 1)], hand)
    await tick()
    hand.hold({})
    await tick(statusDelayMs)
    hand.hold({ a: 1 })
    await tick(statusDelayMs)
    hand.ring()
    await tick(statusDelayMs)
    expect(said()).toEqual(['a NoEnvoy', 'a Pending', 'a Programmed'])
  })

  test('changes that come together are looked at once, after a moment', async () => {
    const hand = handMade()
    const { tick } = start([aRoute('a', 1)], hand)
    await tick()
    const before = hand.looks()
    for (let i = 0; i < 100; i += 1) hand.ring()
    await tick(statusDelayMs - 1)
    expect(hand.looks()).toBe(before)
    await tick(1)
    expect(hand.looks()).toBe(before + 1)
  })

  test('that an Envoy is late is said when its grace is over, without anything else happening', async () => {
    const hand = handMade()
    const { source, reported, said, tick } = start([aRoute('a', 1)], hand)
    await tick()
    hand.hold({ a: 1 })
    await tick(statusDelayMs)
    source.apply(aRoute('a', 2))
    await tick()
    await tick(lagGraceMs - 1)
    expect(reported.at(-1)?.verdicts.get('a')?.generation).toBe(2)
    expect(reported.at(-1)?.verdicts.get('a')?.programmed).toEqual({
      _tag: 'Programmed',
      generation: 1,
    })
    await tick(1)
    expect(said().at(-1)).toBe('a Lagging')
  })

  test('a route that is refused is a complaint, which is over when it is mended', async () => {
    const hand = handMade()
    const { source, logger, tick } = start([aRoute('a', 1), aRoute('b', 1)], hand)
    await tick()
    hand.hold({ b: 1 }, { a: 'no such filter' })
    await tick(statusDelayMs)
    hand.ring()
    await tick(statusDelayMs)
    source.apply(aRoute('a', 2))
    hand.hold({ b: 1 })
    await tick()
    const lines = logger.entries().filter(({ fields }) => 'where' in fields)
    expect(
      lines.map(({ message, fields }) => [message, fields['where'], fields['problem']]),
    ).toEqual([
      ['not served as asked', 'test/a', 'refused by an Envoy: no such filter'],
      ['resolved', 'test/a', undefined],
    ])
  })

  test('a verdict of which nothing new is said stays the very same', async () => {
    const hand = handMade()
    const { reported, tick } = start([aRoute('a', 1), aRoute('b', 1)], hand)
    await tick()
    hand.hold({ a: 1, b: 1 })
    await tick(statusDelayMs)
    hand.hold({ a: 1 }, { b: 'no' })
    await tick(statusDelayMs)
    const [, before, after] = reported.map(({ verdicts }) => verdicts)
    expect(after?.get('a')).toBe(before?.get('a'))
    expect(after?.get('b')).not.toEqual(before?.get('b'))
  })

  test('an Envoy in memory programs a route, and the loss of that Envoy does not take it back', async () => {
    const controlPlane = memoryControlPlane()
    const ports = { sink: controlPlane, ledger: controlPlane }
    const { said, tick } = start([aRoute('a', 1)], ports)
    await tick()
    const envoy = controlPlane.connect({
      node: { id: 'e', cluster: 'edge-envoy' },
      variant: 'delta',
    })
    controlPlane.settle()
    await tick(statusDelayMs)
    envoy.disconnect()
    await tick(10 * lagGraceMs)
    expect(said()).toEqual(['a NoEnvoy', 'a Programmed'])
  })

  test.each(['delta', 'sotw'] as const)(
    'an Envoy in %s whose port is taken programs nothing: not while it is asked again, nor as it comes back, until it is free',
    async (variant) => {
      const clock = virtualClock()
      const controlPlane = memoryControlPlane({ clock })
      const ports = { sink: controlPlane, ledger: controlPlane }
      const { reported, said, tick } = start([aRoute('a', 1), aRoute('b', 1)], ports, clock)
      await tick()
      let isBusy = true
      const node = { id: 'e', cluster: 'edge-envoy' }
      const busyPorts = (): boolean => isBusy
      const envoy = controlPlane.connect({ node, variant, busyPorts })
      const pass = async (ms: number): Promise<void> => {
        clock.advance(ms)
        controlPlane.settle()
        await tick(statusDelayMs)
      }
      for (let second = 0; second < 40; second += 1) await pass(1_000)
      envoy.reconnect()
      for (let second = 0; second < 40; second += 1) await pass(1_000)
      const refusals = envoy.nacked().filter(({ typeUrl }) => typeUrl === listenerType)
      expect(refusals.length).toBeGreaterThan(3)
      expect(said()).toEqual(['a NoEnvoy,b NoEnvoy', 'a Refused,b Refused'])
      const verdict = reported.at(-1)?.verdicts.get('a')
      expect(verdict && showVerdict(verdict)).toMatch(
        /^Accepted; Refused: refused by e: listener http: .*cannot bind '0.0.0.0:10000': Address already in use/,
      )
      isBusy = false
      for (let second = 0; second < 120; second += 1) await pass(1_000)
      expect(said().at(-1)).toBe('a Programmed,b Programmed')
      expect(said()).toHaveLength(3)
    },
  )

  test('a change of the listener that an Envoy refuses takes back nothing: the old form serves', async () => {
    const clock = virtualClock()
    const controlPlane = memoryControlPlane({ clock })
    const ports = { sink: controlPlane, ledger: controlPlane }
    const { said, tick } = start([aRoute('a', 1)], ports, clock)
    await tick()
    const node = { id: 'e', cluster: 'edge-envoy' }
    const envoy = controlPlane.connect({ node, variant: 'delta', busyPorts: (of) => of === 9 })
    controlPlane.settle()
    await tick(statusDelayMs)
    const listeners = [{ name: 'http', address: '0.0.0.0', port: 9 }]
    const dataPlanes = new Map([['edge-envoy', { listeners }]])
    controlPlane.publish(snapshotOf([aRoute('a', 1)], { ...defaultContext, dataPlanes }))
    for (let second = 0; second < 20; second += 1) {
      clock.advance(1_000)
      controlPlane.settle()
      await tick(statusDelayMs)
    }
    expect(envoy.nacked().map(({ typeUrl }) => typeUrl)).toContain(listenerType)
    const answer = envoy.request({ listener: 'http', host: 'x', path: '/a' })
    expect(answer).toMatchObject({ code: 200 })
    expect(said()).toEqual(['a NoEnvoy', 'a Programmed'])
  })

  test('it ends without a timer, and looks at nothing any more', async () => {
    const hand = handMade()
    const { clock, source, tick, stop } = start([aRoute('a', 1)], hand)
    await tick()
    hand.hold({ a: 1 })
    await tick(statusDelayMs)
    source.apply(aRoute('a', 2))
    await tick()
    hand.ring()
    expect(clock.waiting()).toBeGreaterThan(1)
    await stop()
    expect(clock.waiting()).toBe(0)
    const before = hand.looks()
    hand.ring()
    expect(clock.waiting()).toBe(0)
    clock.advance(10 * lagGraceMs)
    expect(hand.looks()).toBe(before)
  })

  test('once it has ended it does not even hear of changes', async () => {
    const hand = handMade()
    const { clock, tick, stop } = start([aRoute('a', 1)], hand)
    await tick()
    await stop()
    hand.ring()
    expect(clock.waiting()).toBe(0)
  })

  test('it rejects for a bug in the ledger', async () => {
    const bug = new Error('a bug in the ledger')
    const hand = handMade()
    let isBroken = false
    const ledger: LedgerSource = {
      ...hand.ledger,
      ledger: () => {
        if (isBroken) throw bug
        return hand.ledger.ledger()
      },
    }
    const { ended, tick } = start([aRoute('a', 1)], { ...hand, ledger })
    await tick()
    const failed = expect(ended).rejects.toBe(bug)
    isBroken = true
    hand.ring()
    await tick(statusDelayMs)
    await failed
  })
})

test('without a ledger verdicts say nothing of the Envoys', async () => {
  const { reported, tick } = start([aRoute('a', 1)], { sink: { publish: () => undefined } })
  await tick()
  expect([...(reported[0]?.verdicts.values() ?? [])].map((of) => 'programmed' in of)).toEqual([
    false,
  ])
})
