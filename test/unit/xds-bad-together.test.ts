import { defaultDataPlane, snapshotOf } from 'edgewright'
import { describe, expect, test } from 'vitest'
import { standsIn } from '../../src/core/compose.js'
import { routeType } from '../../src/core/type-url.js'
import {
  accuse,
  acquit,
  nextTrial,
  noSearch,
  type Search,
  skip,
  type Unit,
} from '../../src/core/xds/search.js'
import { aRoute } from '../support/ledger-nodes.js'
import { openSotw, type SotwStream, words } from '../support/xds.js'

const routes = (names: ReadonlyArray<string>) => snapshotOf(names.map((name) => aRoute(name, 1)))

const ownersIn = (stream: SotwStream): ReadonlyArray<string> =>
  stream.latest('rds')?.resources[0]?.owners ?? []

/** The tables that were accepted, by an Envoy that refuses what has all of these, until nothing is sent any more. */
const answerAll = (
  stream: SotwStream,
  bad: ReadonlyArray<string>,
  isBadBesides: () => boolean = () => false,
): ReadonlyArray<string> => {
  const accepted: Array<string> = []
  for (let round = 0; round < 200; round++) {
    const known = stream.responses().length
    const owners = ownersIn(stream)
    const isBad = bad.every((uid) => owners.includes(uid)) || isBadBesides()
    const message = isBad ? 'together' : 'missing ]: [edgewright_probe'
    if (isBad || owners.includes(''))
      stream.ask('rds', 'http', { errorDetail: { code: 13, message } })
    else {
      stream.ack('rds')
      accepted.push(owners.join(' '))
    }
    if (stream.responses().length === known) return accepted
  }
  throw new Error('it is sent something for ever')
}

const convictedIn = (stream: SotwStream): ReadonlyArray<string> =>
  [...(stream.memory()?.searches[routeType]?.convicted.values() ?? [])].map(({ unit }) => unit.name)

const comeBack = (names: ReadonlyArray<string>): SotwStream => {
  const stream = openSotw({ node: { id: 'envoy-1', cluster: defaultDataPlane } })
  stream.publish(routes(names))
  stream.ask('rds', 'http', { versionInfo: 'v' })
  return stream
}

const eight = words('a b c d e f g h')

const pairs = eight.flatMap((one, at) => eight.slice(at + 1).map((other) => [one, other] as const))

describe('of an Envoy that nobody knows', () => {
  test.each(pairs)(
    '%s and %s, bad together alone, cost the later of them, and no other',
    (...pair) => {
      const stream = comeBack(eight)
      const accepted = answerAll(stream, pair)
      expect(accepted.at(-1)).toBe(eight.filter((name) => name !== pair[1]).join(' '))
      expect(new Set(convictedIn(stream))).toEqual(new Set([pair[1]]))
    },
  )

  test('two that are bad together do not cost a third one its claims, of which no more is left', () => {
    const stream = comeBack(words('a b c d'))
    const isHot = (): boolean => {
      const table = stream.latest('rds')?.resources[0]
      return table !== undefined && standsIn(table, 'b')
    }
    expect(answerAll(stream, ['a', 'c'], isHot).at(-1)).toBe('a b d')
  })

  test('three that are bad together alone cost one of them, and no other', () => {
    const stream = comeBack(eight)
    expect(answerAll(stream, ['b', 'd', 'g']).at(-1)).toBe('a b c d e f h')
  })

  test('two that are bad together alone hold up no third one that comes later', () => {
    const stream = comeBack(words('a b c d'))
    answerAll(stream, ['a', 'b'])
    stream.publish(routes(words('a b c d e')))
    expect(answerAll(stream, ['a', 'b']).at(-1)).toBe('a c d e')
  })
})

describe('what a search has found to be taken', () => {
  const unit = (name: string): Unit => ({ kind: 'Owner', name, version: '1' })
  const evidence = { message: '', kind: 'Refused', nowMs: 0 } as const
  const accused = (search: Search, names: string): Search =>
    accuse(search, words(names).map(unit), evidence)
  const trialOf = (search: Search): readonly [Search, ReadonlyArray<Unit>] => {
    const [next, trial] = nextTrial(search, () => true)
    return [next, trial ?? []]
  }
  const taken = ({ taken: units }: Search): string => units.map(({ name }) => name).join(' ')
  const halfTaken = acquit(...trialOf(accused(noSearch, 'a b c d')))

  test('is what was tried and accepted', () => {
    expect(taken(halfTaken)).toBe('a b')
    expect(taken(accused(halfTaken, 'c d'))).toBe('a b')
  })

  test('is nothing that is accused again', () => {
    expect(taken(accused(halfTaken, 'b e'))).toBe('a')
  })

  test('is nothing that needed no trial', () => {
    expect(taken(skip(trialOf(accused(noSearch, 'a b c d'))[0], 0))).toBe('')
  })

  test('is forgotten when another search begins', () => {
    const over = accused(accused(accused(halfTaken, 'c'), 'd'), 'a')
    expect(over.groups).toEqual([])
    expect(taken(accused(over, 'e f'))).toBe('')
  })
})
