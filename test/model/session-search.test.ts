import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Response, Variant } from '../../src/core/xds/messages.js'
import { type IdealClient, idealClient } from '../support/ideal-client.js'
import { noChange, type Taste } from '../support/ideal-interest.js'
import { aResource, type Short, shortOf, shorts, variants, type World } from '../support/xds.js'
import { openWire, type Wire } from './session-laws.js'

/** Most resources of one search. */
const most = 64

const cases = fc.record({
  short: fc.constantFrom(...shorts),
  size: fc.integer({ min: 1, max: most }),
  bad: fc.uniqueArray(fc.nat({ max: most - 1 }), { minLength: 1, maxLength: 4 }),
  /** What the client held of all of them before. */
  before: fc.constantFrom('', 'old'),
  appliesParts: fc.boolean(),
})

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

const nameOf = (index: number): string => `r${String(index).padStart(2, '0')}`

const contents = ({ size, bad }: Case): ReadonlyArray<string> =>
  Array.from({ length: size }, (_, i) => `${nameOf(i)}=${bad.includes(i) ? 'bad' : 'good'}`)

const worldOf = (short: Short, resources: ReadonlyArray<string>): World => ({
  [short]: resources.join(' '),
})

const tasteOf = ({ appliesParts }: Case): Taste => ({
  isBad: (_, { name, version }) => version === aResource(`${name}=bad`).version,
  appliesParts,
})

/** Answers whatever comes, after its taste. */
const rest = (client: IdealClient, wire: Wire, short: Short): void => {
  for (let round = 0; round < 1_000; round++) {
    const request = client.say(short, noChange, 'accept')
    if (request === undefined) return
    wire.send(request)
  }
  throw new Error('still not at rest')
}

interface Outcome {
  readonly responses: number
  readonly convicted: ReadonlySet<string>
  readonly held: ReadonlyArray<string>
}

const search = (variant: Variant, of: Case): Outcome => {
  const { short, size, before } = of
  const client = idealClient(variant, false, tasteOf(of))
  const sent: Array<Response> = []
  const wire = openWire(variant, (response) => {
    if (shortOf(response.typeUrl) === short) sent.push(response)
    client.deliver(response)
  })
  const names = Array.from({ length: size }, (_, index) => nameOf(index))
  const old = before === '' ? [] : names.map((name) => `${name}=${before}`)
  wire.publish(worldOf(short, old))
  for (const each of shorts) {
    const request = client.say(each, { subscribe: ['*'], unsubscribe: [] }, 'none')
    if (request !== undefined) wire.send(request)
    rest(client, wire, each)
  }
  const already = sent.length
  wire.publish(worldOf(short, contents(of)))
  rest(client, wire, short)
  const held = [...client.held(short).values()]
    .filter(({ content }) => content._tag === 'Bytes' && decode(content.bytes) === 'good')
    .map(({ name }) => name)
  return { responses: sent.length - already, convicted: wire.convicted(short), held }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

describe.each(variants)('18b. a search with a %s client', (variant) => {
  test('finds exactly the culprits, and brings all others through', () => {
    fc.assert(
      fc.property(cases, (of) => {
        const { convicted, held } = search(variant, of)
        const [bad, good] = [of.bad, contents(of).map((_, index) => index)]
        expect([...convicted].sort()).toEqual(
          good.filter((index) => bad.includes(index)).map(nameOf),
        )
        expect([...held].sort()).toEqual(good.filter((index) => !bad.includes(index)).map(nameOf))
      }),
      { numRuns: 500 },
    )
  })

  test('takes at most 2 log2(n) + 4 responses for each of them', () => {
    fc.assert(
      fc.property(cases, (of) => {
        const culprits = of.bad.filter((index) => index < of.size).length
        const perCulprit = 2 * Math.ceil(Math.log2(of.size)) + 4
        expect(search(variant, of).responses).toBeLessThanOrEqual(1 + culprits * perCulprit)
      }),
      { numRuns: 500 },
    )
  })
})
