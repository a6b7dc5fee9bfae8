import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DiscoveryRequest, Variant } from '../../src/core/xds/messages.js'
import { type IdealClient, idealClient } from '../support/ideal-client.js'
import { type Answer, covers, type NameChange, noChange } from '../support/ideal-interest.js'
import { aResource, type Short, shorts, variants, words, type World } from '../support/xds.js'
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
    if (client.unread(short) === undefined) client.giveUp(short)
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
const world = fc.record({ cds: clusters, eds: resources, lds: resources, rds: resources })

const commands = fc.commands(
  [
    world.map(publish),
    fc.constant(publishAgain),
    fc.tuple(short, change).map(([of, names]) => say(of, names, 'none')),
    short.map((of) => say(of, { subscribe: ['*'], unsubscribe: [] }, 'none')),
    short.map((of) => say(of, noChange, 'accept')),
    short.map((of) => say(of, noChange, 'accept')),
    short.map((of) => say(of, noChange, 'refuse')),
    fc
      .tuple(short, change, fc.constantFrom<Answer>('accept', 'refuse'))
      .map(([of, names, answer]) => say(of, names, answer)),
    fc.tuple(short, fc.constantFrom('a', 'b', 'x')).map(([of, name]) => lose(of, name)),
    fc.tuple(short, fc.constantFrom('a', 'b', '*')).map(([of, name]) => flap(of, name)),
    short.map(nag),
    fc
      .tuple(short, names, fc.boolean())
      .map(([of, list, refuses]) => answerUnseen(of, list, refuses)),
    fc.constant(reconnect),
  ],
  { maxCommands: 50, size: '+1' },
)

/** Accepts all that comes. A response may reveal a newer one, and clusters may bring endpoints. */
const maxRounds = 4

const acceptAll = ({ client }: Model, wire: Wire): void => {
  for (let round = 0; round < maxRounds; round++)
    for (const of of shorts) transmit(wire, client.say(of, noChange, 'accept'))
  expect(shorts.filter((of) => client.unread(of) !== undefined)).toEqual([])
}

const wordsOf = (of: World, type: Short): ReadonlyArray<string> => words(of[type] ?? '')

/** Version by name of what a client is to hold, apart from names that it has refused. */
const expected = (client: IdealClient, of: World, type: Short): ReadonlyMap<string, string> =>
  new Map(
    wordsOf(of, type)
      .map(aResource)
      .filter(({ name }) => covers(client.wanted(type), name) && !client.refused(type).has(name))
      .map(({ name, version }) => [name, version]),
  )

/**
 * What a client holds, apart from names that it has refused. State of the world has no way to say that
 * endpoints or routes have gone: of these only what is published is compared.
 */
const actual = (client: IdealClient, of: World, type: Short): ReadonlyMap<string, string> => {
  const published = new Set(wordsOf(of, type).map((text) => aResource(text).name))
  const keepsGone = client.variant === 'sotw' && (type === 'eds' || type === 'rds')
  return new Map(
    [...client.held(type).values()]
      .filter(({ name }) => !client.refused(type).has(name))
      .filter(({ name }) => !keepsGone || published.has(name))
      .map(({ name, version }) => [name, version] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

const expectConverged = ({ client, world: of = {} }: Model): void => {
  for (const type of shorts)
    expect(Object.fromEntries(actual(client, of, type)), type).toEqual(
      Object.fromEntries(expected(client, of, type)),
    )
}

/** The same world, in which each name that a client has refused has a version that it never had. */
const withNewVersions = (client: IdealClient, of: World): World =>
  Object.fromEntries(
    shorts.map((type) => {
      const refused = [...client.refused(type)]
      const others = wordsOf(of, type).filter((text) => !refused.includes(aResource(text).name))
      return [type, [...others, ...refused.map((name) => `${name}=3`)].join(' ')]
    }),
  )

const converges = (variant: Variant) =>
  fc.property(commands, fc.boolean(), world, (cmds, legacyWildcard, last) => {
    const client = idealClient(variant, legacyWildcard)
    const model: Model = { client, world: undefined }
    const wire = openWire(variant, client.deliver)
    fc.modelRun(() => ({ model, real: wire }), cmds)
    acceptAll(model, wire)
    expectConverged(model)
    publish(withNewVersions(client, model.world ?? last)).run(model, wire)
    acceptAll(model, wire)
    expect(shorts.flatMap((type) => [...client.refused(type)])).toEqual([])
    expectConverged(model)
    publish(last).run(model, wire)
    acceptAll(model, wire)
    expectConverged(model)
    publishAgain.run(model, wire)
  })

describe('under any exchange the laws hold, and once all is accepted', () => {
  test.each(variants)('a %s client holds exactly what is published and asked for', (variant) => {
    fc.assert(converges(variant), { numRuns: 1_000 })
  })
})
