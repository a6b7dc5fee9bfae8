import { RE2JS } from 're2js'
import { afterEach, expect, test, vi } from 'vitest'
import { memoizeText } from '../../src/adapters/memory/envoy/memo.js'
import type { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import {
  ask,
  clusterType,
  goOn,
  listener,
  listenerType,
  play,
  response,
  routeType,
  staticCluster,
} from '../support/memory-envoy.js'

afterEach(() => vi.restoreAllMocks())

const matching = (...regexes: ReadonlyArray<string>): RouteConfiguration => ({
  name: 't',
  virtualHosts: [
    {
      name: 'all',
      domains: ['*'],
      routes: regexes.map((regex) => ({
        match: { pathSpecifier: { $case: 'safeRegex', value: { regex } } },
        action: { $case: 'directResponse', value: { status: 204 } },
      })),
    },
  ],
})

const serving = play(
  { variant: 'delta' },
  response(clusterType, 'c1', [staticCluster('a')]),
  response(listenerType, 'l1', [listener('l', 80, 't')]),
)

test('a regex is compiled once, in however many tables it stands, good or not, and for requests too', () => {
  const compile = vi.spyOn(RE2JS, 'compile')
  const [good, bad] = ['/once-only', '[once-only']
  const after = goOn(
    serving,
    response(routeType, 'r1', [matching(good)]),
    response(routeType, 'r2', [matching(good, bad)]),
    response(routeType, 'r3', [matching(good, good, bad)]),
    response(routeType, 'r4', [matching(good, good)]),
  )
  expect(after.sent.map(([line]) => line?.split(' ! ')[0])).toEqual(
    ['r1', 'r2', 'r3', 'r4'].map((nonce) => `RouteConfiguration n=${nonce}`),
  )
  expect(ask(after, 'l')).toBe('NotFound')
  expect(compile.mock.calls.map(([regex]) => regex)).toEqual([good, bad])
})

test('what a user refuses of a table comes before what is wrong with it', () => {
  const refuse = (): string => 'hot'
  const { sent } = play(
    { variant: 'delta', refuse: (typeUrl) => (typeUrl === routeType ? refuse() : undefined) },
    response(clusterType, 'c1', [staticCluster('a')]),
    response(listenerType, 'l1', [listener('l', 80, 't')]),
    response(routeType, 'r1', [matching('[poison')]),
  )
  expect(sent.at(-1)).toEqual(['RouteConfiguration n=r1 ! hot'])
})

test('what is remembered of texts is bounded, and the oldest makes room', () => {
  const length = vi.fn((text: string) => text.length)
  const remembered = memoizeText(length, 2)
  const results = ['a', 'bb', 'a', 'ccc', 'bb', 'a'].map(remembered)
  expect(results).toEqual([1, 2, 1, 3, 2, 1])
  expect(length.mock.calls.map(([text]) => text)).toEqual(['a', 'bb', 'ccc', 'a'])
})

test('a function that remembers texts throws what it threw, and tries again', () => {
  let count = 0
  const failing = memoizeText((text) => {
    count += 1
    throw new Error(text)
  }, 2)
  expect(() => failing('a')).toThrow('a')
  expect(() => failing('a')).toThrow('a')
  expect(count).toBe(2)
})
