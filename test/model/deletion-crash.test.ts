import { describe, expect, test } from 'vitest'
import {
  type DeletionState,
  type Evidence,
  isInService,
  noteWrite,
  settleMs,
  type Sighting,
  stepDeletion,
  wantedWrite,
} from '../../src/core/deletion.js'

/**
 * One object in a store, one Envoy, and the control plane between them, of which a crash takes all that it
 * knows. The store and the Envoy are the truth; there is no machine in them.
 */
interface World {
  /** The object in the store: it vanishes as soon as it is being deleted and nothing holds it. */
  readonly exists: boolean
  readonly isGuarded: boolean
  readonly isDeleting: boolean
  /** Somebody took our finalizer off by hand. */
  readonly isStripped: boolean
  /** A control plane has seen it with our finalizer; it has seen that it is being deleted. */
  readonly wasSeenGuarded: boolean
  readonly wasSeenDeleting: boolean
  /** What the Envoy serves, and what it would be sent. */
  readonly holds: boolean
  readonly published: boolean
  /** The Envoy has said on this stream what it holds. */
  readonly isHeard: boolean
  readonly returns: number
  readonly nowMs: number
  readonly machine: DeletionState | undefined
  /** How many writes the store was asked for. */
  readonly writes: number
}

const start: World = {
  exists: true,
  isGuarded: false,
  isDeleting: false,
  isStripped: false,
  wasSeenGuarded: false,
  wasSeenDeleting: false,
  holds: false,
  published: false,
  isHeard: true,
  returns: 1,
  nowMs: 0,
  machine: undefined,
  writes: 0,
}

const collect = (world: World): World =>
  world.isDeleting && !world.isGuarded ? { ...world, exists: false } : world

const sightingOf = ({ exists, isDeleting, isGuarded }: World): Sighting => {
  if (!exists) return { _tag: 'Absent' }
  return isDeleting ? { _tag: 'Terminating' } : { _tag: 'Live', isGuarded }
}

const evidenceOf = ({ holds, published, isHeard, returns }: World): Evidence =>
  holds || published || !isHeard
    ? { _tag: 'Owed', nodes: ['envoy'], nodeCount: 1 }
    : { _tag: 'Clear', returns }

/** Withdrawn before the evidence is asked, and served only after the sighting: as the host does it. */
const look = (world: World): World => {
  const sighting = sightingOf(world)
  const isLive = sighting._tag === 'Live'
  const told = { ...world, published: world.published && isLive }
  const [machine] = stepDeletion(world.machine, sighting, () => evidenceOf(told), world.nowMs)
  const { exists, isGuarded, isDeleting } = world
  return {
    ...told,
    machine,
    published: isInService(machine),
    wasSeenGuarded: world.wasSeenGuarded || isGuarded,
    wasSeenDeleting: world.wasSeenDeleting || (exists && isDeleting),
  }
}

/** Does what is wanted; `isDone` says if it takes effect, `isTold` if the control plane learns that. */
const write = (world: World, isDone: boolean, isTold: boolean): World => {
  const { machine } = world
  const wanted = machine && wantedWrite(machine)
  if (machine === undefined || wanted === undefined) return world
  const after = isDone ? collect({ ...world, isGuarded: wanted === 'Guard' }) : world
  const noted = noteWrite(machine, wanted, isTold ? undefined : 'no answer')
  return { ...after, machine: noted, writes: world.writes + 1 }
}

/** What an Envoy has answers for itself alone: what was sent to it is what it has then. */
const ack = (world: World): World => ({ ...world, holds: world.published, isHeard: true })

const commands = {
  look,
  write: (world: World) => write(world, true, true),
  'write, and no answer': (world: World) => write(world, true, false),
  'fail to write': (world: World) => write(world, false, false),
  ack,
  'come back': (world: World) => ({ ...world, isHeard: false, returns: world.returns + 1 }),
  delete: (world: World) => (world.exists ? collect({ ...world, isDeleting: true }) : world),
  'take the finalizer off': (world: World) =>
    world.exists && world.isGuarded
      ? collect({ ...world, isGuarded: false, isStripped: true })
      : world,
  pass: (world: World) => ({ ...world, nowMs: world.nowMs + settleMs }),
} satisfies Readonly<Record<string, (world: World) => World>>

type Name = keyof typeof commands
const names: ReadonlyArray<Name> = Object.keys(commands).filter(
  (name): name is Name => name in commands,
)

/** The process ends, and another one begins: it has nothing published before its first look. */
const crash = (world: World): World => ({
  ...world,
  machine: undefined,
  published: false,
  isHeard: false,
  returns: world.returns + 1,
})

/** What must be true at every moment. */
const check = (world: World, said: () => string): void => {
  if (!world.exists && world.holds && !world.isStripped)
    throw new Error(`gone from the store, and still served: ${said()}`)
  if (world.published && world.wasSeenDeleting)
    throw new Error(`served although it was seen as deleted: ${said()}`)
  if (world.published && !world.wasSeenGuarded)
    throw new Error(`served before it was seen with our finalizer: ${said()}`)
}

/** How many rounds of everything that may still happen come to an end. */
const rounds = 4

/** Lets everybody do what is left to do; the last round must find nothing. */
const drain = (world: World, said: () => string): World => {
  let now = world
  for (let round = 0; round < rounds; round += 1)
    for (const name of ['look', 'ack', 'look', 'pass', 'look', 'write', 'ack'] as const) {
      now = commands[name](now)
      check(now, said)
    }
  const { writes } = now
  const last = commands.write(commands.look(now))
  if (last.writes !== writes) throw new Error(`it never comes to rest: ${said()}`)
  return now
}

/** What is left when all is done. */
const showEnd = ({ exists, isGuarded, isDeleting, holds, published, machine }: World): string => {
  const state = machine === undefined ? 'none' : JSON.stringify(machine)
  return `${exists} ${exists && isGuarded} ${isDeleting} ${holds} ${published} ${state}`
}

const servedEnd = showEnd({
  ...start,
  isGuarded: true,
  holds: true,
  published: true,
  machine: { _tag: 'Serving', isGuarded: true, failure: undefined },
})
const deletedEnd = showEnd({ ...start, exists: false, isDeleting: true })

/** Every sequence of `length` commands, each once. */
function* sequences(length: number): Generator<ReadonlyArray<Name>> {
  if (length === 0) {
    yield []
    return
  }
  for (const before of sequences(length - 1)) for (const name of names) yield [...before, name]
}

const after = (from: World, sequence: ReadonlyArray<Name>): World =>
  sequence.reduce((world, name) => commands[name](world), from)

const served = after(start, ['look', 'write', 'look', 'ack'])
const due = after(served, ['delete', 'look', 'ack', 'look', 'pass', 'look'])

/** Goes through a sequence, with a crash before the command of this number, to the end of everything. */
const endOf = (from: World, sequence: ReadonlyArray<Name>, crashAt: number): string => {
  const said = (): string => `${sequence.join(', ')}; crash before ${crashAt}`
  let world = from
  for (let i = 0; i <= sequence.length; i += 1) {
    if (i === crashAt) world = crash(world)
    const name = sequence[i]
    if (name === undefined) break
    world = commands[name](world)
    check(world, said)
  }
  const last = drain(world, said)
  const end = showEnd(last)
  if (end !== (last.isDeleting ? deletedEnd : servedEnd))
    throw new Error(`it ends with ${end}: ${said()}`)
  return end
}

/** 9 commands: 7,380 sequences of up to 4, each with up to 5 places for a crash. */
const maxLength = 4

describe.each([
  ['an object that nobody has seen yet', start],
  ['an object that is served', served],
  ['an object whose release is due', due],
])('%s', (_, from) => {
  test('ends the same after every short sequence of events, with a crash at any point, or without', () => {
    let count = 0
    for (let length = 0; length <= maxLength; length += 1)
      for (const sequence of sequences(length)) {
        const quiet = endOf(from, sequence, -1)
        for (let crashAt = 0; crashAt <= length; crashAt += 1) {
          if (endOf(from, sequence, crashAt) !== quiet)
            throw new Error(`a crash before ${crashAt} changes the end of ${sequence.join(', ')}`)
          count += 1
        }
      }
    expect(count).toBe(1 + 9 * 2 + 81 * 3 + 729 * 4 + 6_561 * 5)
  })
})

test('the worlds that it begins with are what they are called', () => {
  expect([served.holds, served.published, served.isGuarded]).toEqual([true, true, true])
  expect([due.holds, due.published, due.exists]).toEqual([false, false, true])
  expect(due.machine && wantedWrite(due.machine)).toBe('Release')
})
