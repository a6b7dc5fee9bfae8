import { describe, expect, test } from 'vitest'
import {
  lagGraceMs,
  maxNamedNodes,
  nextProgrammedTimer,
  nothingProgrammed,
  type Programmed,
  type ProgrammedState,
  stepProgrammed,
} from '../../src/core/programmed.js'
import {
  aLedger,
  type Forms,
  type Listens,
  type NodeOptions,
  worldOf,
} from '../support/ledger-nodes.js'

/** Looks at one moment after another, as a host does. */
const watcher = () => {
  let state: ProgrammedState = nothingProgrammed
  let nowMs = 0
  let forms: Forms = {}
  let world = worldOf(forms)
  let nodes: ReadonlyArray<NodeOptions> = []
  const look = () => {
    const ledger = aLedger(world.snapshot, nodes)
    const [next, statements] = stepProgrammed(state, { ledger, ...world, nowMs })
    state = next
    return statements
  }
  return {
    look,
    publish: (next: Forms) => {
      forms = next
      world = worldOf(forms)
      return look()
    },
    nodes: (...next: ReadonlyArray<NodeOptions>) => {
      nodes = next
      return look()
    },
    pass: (ms: number) => {
      nowMs += ms
      return look()
    },
    due: () => nextProgrammedTimer(state),
    state: () => state,
    world: () => world,
  }
}

const inShort = (statement: Programmed | undefined): string | undefined =>
  statement && `${statement._tag} ${statement.generation}`

const old: NodeOptions = { stream: '1', holds: { a: 1 } }
const lost = (id: string): NodeOptions => ({ id, stream: undefined, holds: { a: 1 } })

/** Route `a`, in its first generation, on one Envoy. */
const programmed = () => {
  const watch = watcher()
  watch.publish({ a: 1 })
  watch.nodes(old)
  return watch
}

describe('a new route', () => {
  test('has no Envoy as long as none has ever connected', () => {
    const statement = watcher().publish({ a: 1 }).get('a')
    expect(statement).toEqual({ _tag: 'NoEnvoy', generation: 1, dataPlane: 'edge-envoy' })
  })

  test('is pending at once, and names whom it waits for', () => {
    const watch = programmed()
    expect(watch.publish({ a: 1, b: 4 }).get('b')).toEqual({
      _tag: 'Pending',
      generation: 4,
      nodes: ['node-1'],
      nodeCount: 1,
    })
  })

  test('never comes to be called late, however long it takes', () => {
    const watch = programmed()
    watch.publish({ a: 1, b: 1 })
    expect(inShort(watch.pass(10 * lagGraceMs).get('b'))).toBe('Pending 1')
  })

  test('is programmed once every node that counts has accepted it, and says of which generation', () => {
    const watch = programmed()
    watch.publish({ a: 1, b: 4 })
    expect(watch.nodes({ ...old, holds: { a: 1, b: 4 } }).get('b')).toEqual({
      _tag: 'Programmed',
      generation: 4,
    })
  })

  test('is pending where all nodes are lost, and waits for none of them by name', () => {
    const watch = programmed()
    watch.nodes(lost('node-1'))
    const statement = watch.publish({ a: 1, b: 1 }).get('b')
    expect(statement).toEqual({ _tag: 'Pending', generation: 1, nodes: [], nodeCount: 0 })
  })

  test('is not held up by another one that is behind', () => {
    const watch = programmed()
    watch.publish({ a: 1, b: 1, c: 1 })
    const said = watch.nodes({ ...old, holds: { a: 1, b: 1 } })
    expect([inShort(said.get('b')), inShort(said.get('c'))]).toEqual(['Programmed 1', 'Pending 1'])
  })
})

describe('a node that comes', () => {
  const newcomer = (holds: Forms | undefined): NodeOptions => ({ stream: '2', holds })

  test('does not count before it has accepted every table', () => {
    const watch = programmed()
    const before = watch.look()
    expect(watch.nodes(old, newcomer(undefined))).toBe(before)
    expect(watch.pass(10 * lagGraceMs)).toBe(before)
  })

  test('does not count before it has accepted everything that there was when it came', () => {
    const watch = programmed()
    watch.publish({ a: 1, b: 1 })
    const before = watch.nodes({ ...old, holds: { a: 1, b: 1 } })
    expect(watch.nodes({ ...old, holds: { a: 1, b: 1 } }, newcomer({ a: 1 }))).toBe(before)
    expect(watch.pass(10 * lagGraceMs)).toBe(before)
  })

  test('counts then, although there are newer changes that it has still to accept', () => {
    const watch = programmed()
    watch.nodes(old, newcomer({}))
    watch.publish({ a: 1, b: 1 })
    const said = watch.nodes({ ...old, holds: { a: 1, b: 1 } }, newcomer({ a: 1 }))
    expect(said.get('b')).toMatchObject({ _tag: 'Pending', nodes: ['node-2'] })
  })

  test('does not count without its tables, be there no route in them when it came', () => {
    const watch = watcher()
    watch.publish({})
    watch.nodes({ stream: '1', holds: {} }, newcomer(undefined))
    watch.publish({ a: 1 })
    expect(inShort(watch.nodes(old, newcomer(undefined)).get('a'))).toBe('Programmed 1')
  })

  test('counts although it refuses something', () => {
    const watch = watcher()
    watch.publish({ a: 1, b: 1 })
    const said = watch.nodes({ ...newcomer({ a: 1 }), refuses: { b: 'no' } })
    expect([inShort(said.get('a')), inShort(said.get('b'))]).toEqual(['Programmed 1', 'Refused 1'])
  })

  test('is a new one when it comes back', () => {
    const watch = programmed()
    watch.nodes(lost('node-1'))
    const before = watch.publish({ a: 2 }).get('a')
    expect(watch.nodes({ id: 'node-1', stream: '9', holds: { a: 1 } }).get('a')).toBe(before)
    expect(watch.pass(10 * lagGraceMs).get('a')).toBe(before)
  })
})

describe('a node that goes', () => {
  test('leaves what was said, be it the only one', () => {
    const watch = programmed()
    const before = watch.look()
    expect(watch.nodes(lost('node-1'))).toBe(before)
    expect(inShort(watch.publish({ a: 2 }).get('a'))).toBe('Programmed 1')
    expect(inShort(watch.pass(10 * lagGraceMs).get('a'))).toBe('Programmed 1')
  })

  test('is no more waited for', () => {
    const watch = programmed()
    const two = { stream: '2', holds: { a: 1 } }
    watch.nodes(old, two)
    watch.publish({ a: 2 })
    expect(inShort(watch.nodes({ ...old, holds: { a: 2 } }, two).get('a'))).toBe('Programmed 1')
    const said = watch.nodes({ ...old, holds: { a: 2 } }, lost('node-2'))
    expect(inShort(said.get('a'))).toBe('Programmed 2')
  })
})

describe('a node that is late', () => {
  test('leaves what was said, of its generation, until its grace is over, and not longer', () => {
    const watch = programmed()
    expect(inShort(watch.publish({ a: 2 }).get('a'))).toBe('Programmed 1')
    expect(watch.due()).toBe(lagGraceMs)
    expect(inShort(watch.pass(lagGraceMs - 1).get('a'))).toBe('Programmed 1')
    expect(watch.pass(1).get('a')).toEqual({
      _tag: 'Lagging',
      generation: 2,
      nodes: ['node-1'],
      nodeCount: 1,
    })
    expect(watch.due()).toBeUndefined()
    expect(inShort(watch.nodes({ ...old, holds: { a: 2 } }).get('a'))).toBe('Programmed 2')
  })

  test('has its own time: two that are late in turn are never called late', () => {
    const watch = programmed()
    const one = (a: number): NodeOptions => ({ stream: '1', holds: { a } })
    const two = (a: number): NodeOptions => ({ stream: '2', holds: { a } })
    watch.nodes(one(1), two(1))
    watch.publish({ a: 2 })
    watch.nodes(one(1), two(2))
    watch.pass(lagGraceMs - 1)
    watch.nodes(one(2), two(1))
    expect(inShort(watch.pass(lagGraceMs - 1).get('a'))).toBe('Programmed 1')
    expect(inShort(watch.pass(1).get('a'))).toBe('Lagging 2')
  })

  test('has its grace as of when it counts, and another one may lose patience before', () => {
    const watch = watcher()
    const one: NodeOptions = { stream: '1', holds: { a: 1, b: 1 } }
    watch.publish({ a: 1, b: 1 })
    watch.nodes(one, { stream: '2', holds: { a: 1 } })
    watch.publish({ a: 2, b: 1 })
    watch.pass(lagGraceMs / 2)
    const two: NodeOptions = { stream: '2', holds: { a: 1, b: 1 } }
    watch.nodes(one, two)
    expect(watch.due()).toBe(lagGraceMs)
    expect(inShort(watch.pass(lagGraceMs / 2).get('a'))).toBe('Lagging 2')
    watch.nodes({ ...one, holds: { a: 2, b: 1 } }, { ...two, holds: { a: 2, b: 1 } })
    expect(inShort(watch.look().get('a'))).toBe('Programmed 2')
  })

  test('is noticed too where the others have long accepted the route', () => {
    const watch = watcher()
    watch.publish({ a: 1 })
    watch.nodes(old, { stream: '2', holds: {} })
    watch.publish({ a: 1, b: 1 })
    const one: NodeOptions = { stream: '1', holds: { a: 1, b: 1 } }
    expect(inShort(watch.nodes(one, { stream: '2', holds: {} }).get('b'))).toBe('Programmed 1')
    watch.nodes(one, { stream: '2', holds: { a: 1 } })
    expect(watch.due()).toBe(lagGraceMs)
    expect(inShort(watch.pass(lagGraceMs).get('b'))).toBe('Lagging 1')
  })

  test('has time anew for each generation, so that constant change makes no one late', () => {
    const watch = programmed()
    for (let generation = 2; generation < 10; generation += 1) {
      watch.publish({ a: generation })
      expect(inShort(watch.pass(lagGraceMs - 1).get('a'))).toBe('Programmed 1')
    }
  })
})

describe('a refusal', () => {
  test('is said at once, in the words of the Envoy, of the generation that is refused', () => {
    const watch = programmed()
    watch.publish({ a: 2 })
    expect(watch.nodes({ ...old, refuses: { a: 'no such filter' } }).get('a')).toEqual({
      _tag: 'Refused',
      generation: 2,
      message: 'no such filter',
      nodes: ['node-1'],
      nodeCount: 1,
    })
  })

  test('that is mended is pending until it is accepted', () => {
    const watch = programmed()
    watch.publish({ a: 2 })
    watch.nodes({ ...old, refuses: { a: 'no' } })
    watch.nodes(old)
    expect(inShort(watch.publish({ a: 3 }).get('a'))).toBe('Pending 3')
    expect(inShort(watch.nodes({ ...old, holds: { a: 3 } }).get('a'))).toBe('Programmed 3')
  })

  test('of many Envoys names a few of them in order, counts all, and cuts what they say', () => {
    const watch = watcher()
    watch.publish({ a: 1 })
    const many = Array.from({ length: 2 * maxNamedNodes }, (_, n) => ({
      stream: String.fromCharCode('z'.charCodeAt(0) - n),
      holds: {},
      refuses: { a: `${'x'.repeat(5_000)}${n}` },
    }))
    const said = watch.nodes(...many).get('a')
    if (said?._tag !== 'Refused') throw new Error(`it is ${said?._tag}`)
    expect(said.nodes).toEqual('klmnopqr'.split('').map((letter) => `node-${letter}`))
    expect(said.nodeCount).toBe(2 * maxNamedNodes)
    expect(said.message.length).toBeLessThan(700)
    expect(said.message.endsWith('15')).toBe(true)
  })
})

describe('a listener', () => {
  const message = "cannot bind '0.0.0.0:10000': Address already in use"
  const on = (stream: string, listens: Listens, holds: Forms = { a: 1, b: 1 }): NodeOptions => ({
    stream,
    holds,
    listens,
  })
  const open: Listens = { isAccepted: true }
  const closed: Listens = { isAccepted: false, refuses: message }
  const published = () => {
    const watch = watcher()
    watch.publish({ a: 1, b: 1 })
    return watch
  }
  const tags = (said: ReadonlyMap<string, Programmed>) =>
    ['a', 'b'].map((uid) => inShort(said.get(uid)))

  test('that an Envoy refuses and never had is said of every route, though it has accepted each', () => {
    const said = published().nodes(on('1', closed))
    const expected = {
      _tag: 'Refused',
      generation: 1,
      message,
      nodes: ['node-1'],
      nodeCount: 1,
      listener: { dataPlane: 'edge-envoy', name: 'http' },
    }
    expect([said.get('a'), said.get('b')]).toEqual([expected, expected])
  })

  test('that was refused and then accepted, as when its port is free, is served at once', () => {
    const watch = published()
    watch.nodes(on('1', closed))
    expect(tags(watch.nodes(on('1', open)))).toEqual(['Programmed 1', 'Programmed 1'])
  })

  test('that an Envoy had before, and of which it refuses a change, goes on in its old form', () => {
    const watch = published()
    const before = watch.nodes(on('1', open))
    expect(watch.nodes(on('1', { ...open, refuses: message }))).toBe(before)
    expect(tags(before)).toEqual(['Programmed 1', 'Programmed 1'])
  })

  test('that is not accepted yet keeps an Envoy that joins from counting', () => {
    const watch = published()
    const slow = on('2', { isAccepted: false })
    expect(tags(watch.nodes(slow))).toEqual(['Pending 1', 'Pending 1'])
    const before = watch.nodes(on('1', open), slow)
    expect(tags(before)).toEqual(['Programmed 1', 'Programmed 1'])
    expect(watch.pass(10 * lagGraceMs)).toBe(before)
    expect(watch.nodes(on('1', open))).toBe(before)
  })

  test('that one Envoy of several refuses is said until that one is lost', () => {
    const watch = published()
    watch.nodes(on('1', open))
    expect(watch.nodes(on('1', open), on('2', closed)).get('a')).toMatchObject({
      _tag: 'Refused',
      nodes: ['node-2'],
    })
    const gone: NodeOptions = { id: 'node-2', stream: undefined, holds: { a: 1, b: 1 } }
    expect(tags(watch.nodes(on('1', open), gone))).toEqual(['Programmed 1', 'Programmed 1'])
  })

  test('that the only Envoy refused is still said once that one is lost', () => {
    const watch = published()
    const before = watch.nodes(on('1', closed))
    expect(watch.nodes({ id: 'node-1', stream: undefined, holds: { a: 1, b: 1 } })).toBe(before)
  })

  test('that is refused leaves the words for a route that is refused itself, and says it of new ones', () => {
    const watch = published()
    watch.nodes(on('1', closed))
    const own: NodeOptions = { ...on('1', closed), refuses: { a: 'no such filter' } }
    expect(watch.nodes(own).get('a')).toMatchObject({ message: 'no such filter' })
    expect(watch.nodes(on('1', closed)).get('a')).toMatchObject({ message })
    const said = watch.publish({ a: 1, b: 2, c: 1 })
    expect([...tags(said), inShort(said.get('c'))]).toEqual(['Refused 1', 'Refused 2', 'Refused 1'])
  })

  test('is the affair of its data plane alone', () => {
    const watch = published()
    const stranger: NodeOptions = { ...on('2', closed), dataPlane: 'other' }
    expect(tags(watch.nodes(on('1', open), stranger))).toEqual(['Programmed 1', 'Programmed 1'])
  })

  test('that is refused makes a look no dearer: no route is asked for again', () => {
    const watch = published()
    watch.nodes(on('1', closed))
    watch.look()
    expect(watch.state().open.size).toBe(0)
  })
})

describe('what is looked at', () => {
  test('is the fleet of the route alone', () => {
    const watch = programmed()
    const stranger = { stream: '2', dataPlane: 'other', holds: {}, refuses: { a: 'no' } }
    expect(inShort(watch.nodes(old, stranger).get('a'))).toBe('Programmed 1')
    expect(inShort(watch.nodes(stranger).get('a'))).toBe('NoEnvoy 1')
  })

  test('is no ledger of what is not published: it proves nothing', () => {
    const watch = programmed()
    const { snapshot } = watch.world()
    const next = worldOf({ a: 2, b: 1 })
    const ledger = aLedger(snapshot, [old])
    const [, said] = stepProgrammed(watch.state(), { ledger, ...next, nowMs: 0 })
    expect([inShort(said.get('a')), inShort(said.get('b'))]).toEqual(['Programmed 1', 'Pending 1'])
  })

  test('is nothing of a route that is served no more', () => {
    const watch = programmed()
    expect([...watch.publish({ b: 1 }).keys()]).toEqual(['b'])
  })
})
