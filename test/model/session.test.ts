import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DiscoveryRequest, Variant } from '../../src/core/xds/messages.js'
import { goodTaste, type IdealClient, idealClient } from '../support/ideal-client.js'
import {
  type Answer,
  covers,
  type NameChange,
  noChange,
  type Taste,
} from '../support/ideal-interest.js'
import { aResource, type Short, shorts, words, type World } from '../support/xds.js'
import { openWire, type Wire } from './session-laws.js'

/** A client, and what was published last. There is no protocol in here. */
interface Model {
  readonly client: IdealClient
  world: World | undefined
}

type Command = fc.Command<Model, Wire>

const command = (title: string, run: (model: Model, wire: Wire) => void): Command => ({
  check: () => true,
  run,
  toString: () => title,
})

const transmit = (wire: Wire, request: DiscoveryRequest | undefined): void => {
  if (request !== undefined) wire.send(request)
}

const publish = (world: World): Command =>
  command(`publish ${JSON.stringify(world)}`, (model, wire) => {
    model.world = world
    wire.publish(world)
  })

const publishAgain = command('publish the same, made anew', ({ world }, wire) => {
  if (world !== undefined) wire.publish(world)
})

const showChange = ({ subscribe, unsubscribe }: NameChange): string =>
  [...subscribe.map((name) => `+${name}`), ...unsubscribe.map((name) => `-${name}`)].join(' ')

const say = (short: Short, change: NameChange, answer: Answer): Command =>
  command(`${short} ${answer} ${showChange(change)}`, ({ client }, wire) => {
    transmit(wire, client.say(short, change, answer))
  })

const lose = (short: Short, name: string): Command =>
  command(`${short} lose ${name}`, ({ client }, wire) => {
    const request = client.lose(short, name)
    if (request === undefined) return
    wire.send(request, request._tag === 'Sotw')
    if (client.unread(short).length === 0) client.giveUp(short)
  })

/** Gives a name up, and asks for it again at once: whatever is still to come was sent before that. */
const flap = (short: Short, name: string): Command =>
  command(`${short} flap ${name}`, ({ client }, wire) => {
    if (!client.wanted(short).has(name)) return
    transmit(wire, client.say(short, { subscribe: [], unsubscribe: [name] }, 'none'))
    transmit(wire, client.say(short, { subscribe: [name], unsubscribe: [] }, 'none'))
  })

const nag = (short: Short): Command =>
  command(`${short} nag`, ({ client }, wire) => transmit(wire, client.nag(short)))

const answerUnseen = (short: Short, names: ReadonlyArray<string>, refuses: boolean): Command =>
  command(`${short} unseen ${names.join()} ${refuses}`, ({ client }, wire) =>
    transmit(wire, client.answerUnseen(short, names, refuses)),
  )

const pass = (ms: number): Command =>
  command(`pass ${ms} ms`, (_, wire) => {
    wire.pass(ms)
  })

const reconnect = command('reconnect', ({ client }, wire) => {
  wire.reopen()
  for (const request of client.reconnect()) wire.send(request)
})

/** Small alphabets on purpose: names and contents must meet often. `x` is never published. */
const short = fc.constantFrom(...shorts)
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'x', '*'), { maxLength: 3 })
const change = fc.record({ subscribe: names, unsubscribe: names }).map((both) => ({
  ...both,
  unsubscribe: both.unsubscribe.filter((name) => !both.subscribe.includes(name)),
}))
const content = fc.constantFrom(undefined, '1', '2')
const resources = fc.record({ a: content, b: content, c: content }).map((of) =>
  Object.entries(of)
    .flatMap(([name, text]) => (text === undefined ? [] : [`${name}=${text}`]))
    .join(' '),
)
/** Two of the clusters share a load assignment. */
const assignments: Readonly<Record<string, string>> = { a: 'a', b: 'b', c: 'a' }
const clusters = resources.map((text) =>
  words(text)
    .map((cluster) => `${cluster}>${assignments[cluster.charAt(0)] ?? 'a'}`)
    .join(' '),
)
const world = fc.record({
  cds: clusters,
  eds: resources,
  lds: resources,
  srds: resources,
  rds: resources,
})

const commands = fc.commands(
  [
    world.map(publish),
    fc.constant(publishAgain),
    fc.tuple(short, change).map(([of, names]) => say(of, names, 'none')),
    short.map((of) => say(of, { subscribe: ['*'], unsubscribe: [] }, 'none')),
    short.map((of) => say(of, noChange, 'accept')),
    short.map((of) => say(of, noChange, 'accept')),
    fc
      .tuple(short, change, fc.constant<Answer>('accept'))
      .map(([of, names, answer]) => say(of, names, answer)),
    fc.tuple(short, fc.constantFrom('a', 'b', 'x')).map(([of, name]) => lose(of, name)),
    fc.tuple(short, fc.constantFrom('a', 'b', '*')).map(([of, name]) => flap(of, name)),
    short.map(nag),
    fc
      .tuple(short, names, fc.boolean())
      .map(([of, list, refuses]) => answerUnseen(of, list, refuses)),
    fc.constant(reconnect),
    fc.constantFrom(1, 99).map(pass),
  ],
  { maxCommands: 50, size: '+1' },
)

/** How often all that is unread may be accepted before nothing more must come. */
const maxRounds = 60

/** Longer than anything lingers, or waits to be tried again. */
const aWhileMs = 61_000

/** Accepts all that comes. A response may reveal a newer one, and clusters may bring endpoints. */
const acceptAll = ({ client }: Model, wire: Wire): void => {
  for (let round = 0; round < maxRounds; round++) {
    for (const of of shorts) transmit(wire, client.say(of, noChange, 'accept'))
    if (shorts.every((of) => client.unread(of).length === 0)) return
  }
  throw new Error(`not at rest after ${maxRounds} rounds`)
}

/** Lets go what lingers, and tries once more what was to be tried later. */
const settle = (model: Model, wire: Wire): void => {
  acceptAll(model, wire)
  for (let round = 0; round < 3; round++) {
    wire.pass(aWhileMs)
    acceptAll(model, wire)
  }
}

const wordsOf = (of: World, type: Short): ReadonlyArray<string> => words(of[type] ?? '')

/** Version by name of what a client is to hold, apart from what it refuses. */
const expected = ({ client, world: of = {} }: Model, wire: Wire, type: Short): Versions =>
  new Map(
    wordsOf(of, type)
      .map(aResource)
      .filter(({ name }) => covers(client.wanted(type), name) && !isRefused(wire, type, name))
      .map(({ name, version }) => [name, version]),
  )

const isRefused = (wire: Wire, type: Short, name: string): boolean =>
  wire.convicted(type).has(name) || wire.balked(type).has(name)

type Versions = ReadonlyMap<string, string>

/**
 * What a client holds, apart from what it refuses. State of the world has no way to say that endpoints or
 * routes have gone, and a table stays as long as it is asked for: of these only what is published is compared.
 */
const actual = ({ client, world: of = {} }: Model, wire: Wire, type: Short): Versions => {
  const published = new Set(wordsOf(of, type).map((text) => aResource(text).name))
  const keepsGone = type === 'rds' || (client.variant === 'sotw' && type === 'eds')
  return new Map(
    [...client.held(type).values()]
      .filter(({ name }) => !isRefused(wire, type, name))
      .filter(({ name }) => !keepsGone || published.has(name))
      .map(({ name, version }) => [name, version] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

const expectConverged = (model: Model, wire: Wire, of: ReadonlyArray<Short> = shorts): void => {
  for (const type of of)
    expect(Object.fromEntries(actual(model, wire, type)), type).toEqual(
      Object.fromEntries(expected(model, wire, type)),
    )
}

/** The same world, in which each name that is held to be refused has a version that it never had. */
const withNewVersions = (wire: Wire, of: World): World =>
  Object.fromEntries(
    shorts.map((type) => {
      const all = wordsOf(of, type).map((text) => aResource(text).name)
      const refused = wire.isExcused(type)
        ? all
        : [...wire.convicted(type), ...wire.balked(type)].filter((name) => all.includes(name))
      const others = wordsOf(of, type).filter((text) => !refused.includes(aResource(text).name))
      return [type, [...others, ...refused.map((name) => `${name}=3`)].join(' ')]
    }),
  )

/** Some contents of `b` and `c` are bad for this client, whatever their type; those with `3` never are. */
const tastes = fc.record({
  bad: fc.uniqueArray(fc.constantFrom('b=1', 'b=2', 'c=1', 'c=2'), { maxLength: 2 }),
  types: fc.subarray([...shorts]),
  appliesParts: fc.boolean(),
})

const tasteOf = ({
  bad,
  types: of,
  appliesParts,
}: typeof tastes extends fc.Arbitrary<infer T> ? T : never): Taste => {
  const versions = new Set(bad.map((text) => aResource(text).version))
  return {
    isBad: (type, { version }) => of.includes(type) && versions.has(version),
    appliesParts,
  }
}

const converges = (variant: Variant, isPicky: boolean) =>
  fc.property(commands, fc.boolean(), world, tastes, (cmds, legacyWildcard, last, taste) => {
    const client = idealClient(variant, legacyWildcard, isPicky ? tasteOf(taste) : goodTaste)
    const model: Model = { client, world: undefined }
    const wire = openWire(variant, client.deliver)
    fc.modelRun(() => ({ model, real: wire }), cmds)
    if (model.world === undefined) publish(last).run(model, wire)
    settle(model, wire)
    expectConverged(
      model,
      wire,
      shorts.filter((type) => !wire.isExcused(type)),
    )
    publish(withNewVersions(wire, model.world ?? last)).run(model, wire)
    settle(model, wire)
    expect(shorts.flatMap((type) => [...wire.convicted(type)])).toEqual([])
    expectConverged(model, wire)
    publish(last).run(model, wire)
    settle(model, wire)
    expectConverged(model, wire)
    publishAgain.run(model, wire)
  })

describe('under any exchange the laws hold, and once all is accepted', () => {
  test('a delta client holds exactly what is published and asked for', () => {
    fc.assert(converges('delta', false), { numRuns: 1_000 })
  })
})
