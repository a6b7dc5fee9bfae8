import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Variant } from '../../src/core/xds/messages.js'
import type { SessionEffect } from '../../src/core/xds/session.js'
import {
  type DeltaStream,
  openDelta,
  openSotw,
  type Short,
  shortOf,
  shorts,
  showResource,
  type SotwStream,
  versionOf,
  words,
  type World,
} from '../support/xds.js'

/*
 * A transcript is a list of commands, and behind each of them what it caused, indented by two spaces.
 * `vitest -u` writes the latter anew. Resources are written as `name`, `name=content` or
 * `name=content>assignment`; nonces count from 1 on each stream.
 *
 *   open sotw|delta [cluster]        a new stream of a node of that cluster (`edge` if none is given)
 *   publish cds a b | eds a          the data plane `edge` holds these, and nothing else
 *   ask TYPE names                   sotw: asks for these names, on the newest nonce of the type
 *   ask TYPE nonce=N names           the same, on nonce N
 *   ask TYPE +a -b held=a,b=2        delta: subscribes, unsubscribes, says what it holds
 *   ack TYPE …, nack TYPE …          answers the newest response of the type, and asks as above
 *   pass MS                          lets time pass
 */

interface Peer {
  readonly variant: Variant
  readonly effects: () => ReadonlyArray<SessionEffect>
  readonly publish: (world: World) => unknown
  readonly pass: (ms: number) => unknown
  readonly speak: (verb: Verb, short: Short, rest: ReadonlyArray<string>) => unknown
}

type Verb = 'ask' | 'ack' | 'nack'

const isVerb = (word: string): word is Verb => ['ask', 'ack', 'nack'].includes(word)

const isShort = (word: string): word is Short => (shorts as ReadonlyArray<string>).includes(word)

/** The values of the words that start with `key`. */
const valuesOf = (rest: ReadonlyArray<string>, key: string): ReadonlyArray<string> =>
  rest.filter((word) => word.startsWith(key)).map((word) => word.slice(key.length))

const sotwPeer = (stream: SotwStream): Peer => ({
  ...stream,
  variant: 'sotw',
  speak: (verb, short, rest) => {
    const [responseNonce] = valuesOf(rest, 'nonce=')
    const names = rest.filter((word) => !word.startsWith('nonce=')).join(' ')
    if (verb !== 'ask') return stream[verb](short, names)
    return stream.ask(short, names, responseNonce === undefined ? {} : { responseNonce })
  },
})

const deltaPeer = (stream: DeltaStream): Peer => ({
  ...stream,
  variant: 'delta',
  speak: (verb, short, rest) => {
    const held = valuesOf(rest, 'held=').flatMap((list) => list.split(','))
    const change = {
      subscribe: valuesOf(rest, '+').join(' '),
      unsubscribe: valuesOf(rest, '-').join(' '),
      initial: Object.fromEntries(
        held.map((text) => [text.split('=')[0] ?? '', versionOf(text)] as const),
      ),
    }
    const [responseNonce] = valuesOf(rest, 'nonce=')
    if (verb !== 'ask') return stream[verb](short, change)
    return stream.ask(short, change, responseNonce === undefined ? {} : { responseNonce })
  },
})

const open = (variant: string | undefined, cluster = 'edge'): Peer => {
  const node = { id: 'envoy-1', cluster }
  return variant === 'sotw' ? sotwPeer(openSotw({ node })) : deltaPeer(openDelta({ node }))
}

/** `cds a b | eds a` */
const parseWorld = (text: string): World =>
  Object.fromEntries(
    text.split('|').flatMap((part) => {
      const [short = '', ...resources] = words(part)
      if (short !== '' && !isShort(short)) throw new Error(`no such type: ${short}`)
      return short === '' ? [] : [[short, resources.join(' ')]]
    }),
  )

const show = (effect: SessionEffect): string => {
  switch (effect._tag) {
    case 'Send': {
      const { typeUrl, nonce, resources, removed } = effect.response
      const parts = [...resources.map(showResource), ...removed.map((name) => `-${name}`)]
      return `  send ${shortOf(typeUrl)} nonce=${nonce} [${parts.join(' ')}]`
    }
    case 'NodeIdentified':
      return `  node ${effect.node.id} of ${effect.known ? '' : 'unknown '}${effect.dataPlane}`
    case 'Acked':
      return `  acked ${shortOf(effect.typeUrl)} nonce=${effect.nonce}`
    case 'Nacked':
      return `  nacked ${shortOf(effect.typeUrl)} nonce=${effect.nonce}: ${effect.error.message}`
    case 'Convicted':
      return `  convicted ${shortOf(effect.typeUrl)} ${effect.name}: ${effect.message}`
    case 'Close':
      return `  close ${effect.code}: ${effect.message}`
  }
}

interface Scene {
  readonly peer: Peer
  readonly world: World
}

/** Runs one command. A new stream learns of what was published before, as a server would have it. */
const run = (scene: Scene, line: string): Scene => {
  const [verb = '', ...rest] = words(line)
  const { peer } = scene
  if (verb === 'open') {
    const opened = { ...scene, peer: open(rest[0], rest[1]) }
    if (Object.keys(scene.world).length > 0) opened.peer.publish(scene.world)
    return opened
  }
  if (verb === 'publish') {
    const world = parseWorld(rest.join(' '))
    peer.publish(world)
    return { ...scene, world }
  }
  if (verb === 'pass') {
    peer.pass(Number(rest[0]))
    return scene
  }
  const [short = '', ...said] = rest
  if (!isVerb(verb) || !isShort(short)) throw new Error(`no such command: ${line}`)
  peer.speak(verb, short, said)
  return scene
}

const here = new URL('.', import.meta.url)
const files = readdirSync(here).filter((name) => name.endsWith('.txt'))

test.each(files)('%s', async (name) => {
  const commands = readFileSync(new URL(name, here), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('  '))
  let scene: Scene = { peer: open('sotw'), world: {} }
  const transcript = commands.flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [line]
    scene = run(scene, line)
    return [line, ...scene.peer.effects().map(show)]
  })
  await expect(transcript.join('\n')).toMatchFileSnapshot(`./${name}`)
})

test('every transcript says in its first line why it is there', () => {
  const first = files.map((name) => readFileSync(new URL(name, here), 'utf8').split('\n')[0])
  expect(files.length).toBeGreaterThan(10)
  expect(first.filter((line) => !/^# .+\(\d+b?(, \d+b?)*\)\.?$/.test(line ?? ''))).toEqual([])
})
