import { describe, expect, test } from 'vitest'
import type {
  HeaderMatcher,
  QueryParameterMatcher,
  RouteMatch,
} from '../../src/gen/envoy/config/route/v3/route_components.js'
import type { StringMatcher } from '../../src/gen/envoy/type/matcher/v3/string.js'
import { all, tableOf, to, whereTo } from '../support/memory-routing.js'

const string = (matcher: StringMatcher): { $case: 'stringMatch'; value: StringMatcher } => ({
  $case: 'stringMatch',
  value: matcher,
})
const exact = (value: string): StringMatcher => ({ matchPattern: { $case: 'exact', value } })

describe('a header matcher', () => {
  const one: ReadonlyArray<readonly [string, string]> = [['X-A', 'One']]
  const two: ReadonlyArray<readonly [string, string]> = [
    ['x-a', 'one'],
    ['x-a', 'two'],
  ]
  const cases: ReadonlyArray<readonly [HeaderMatcher, typeof one, boolean]> = [
    [{ name: 'x-a', headerMatchSpecifier: string(exact('One')) }, one, true],
    [{ name: 'X-A', headerMatchSpecifier: string(exact('One')) }, one, true],
    [{ name: 'x-a', headerMatchSpecifier: string(exact('one')) }, one, false],
    [
      { name: 'x-a', headerMatchSpecifier: string({ ...exact('one'), ignoreCase: true }) },
      one,
      true,
    ],
    [{ name: 'x-a', headerMatchSpecifier: string(exact('two')) }, two, true],
    [{ name: 'x-a', headerMatchSpecifier: string(exact('one,two')) }, two, false],
    [{ name: 'x-a', headerMatchSpecifier: string(exact('two')), invertMatch: true }, two, false],
    [
      {
        name: 'x-a',
        headerMatchSpecifier: string({ matchPattern: { $case: 'prefix', value: 'On' } }),
      },
      one,
      true,
    ],
    [
      {
        name: 'x-a',
        headerMatchSpecifier: string({ matchPattern: { $case: 'suffix', value: 'ne' } }),
      },
      one,
      true,
    ],
    [
      {
        name: 'x-a',
        headerMatchSpecifier: string({ matchPattern: { $case: 'contains', value: 'n' } }),
      },
      one,
      true,
    ],
    [
      {
        name: 'x-a',
        headerMatchSpecifier: string({
          matchPattern: { $case: 'safeRegex', value: { regex: 'O' } },
        }),
      },
      one,
      false,
    ],
    [
      {
        name: 'x-a',
        headerMatchSpecifier: string({
          matchPattern: { $case: 'safeRegex', value: { regex: 'O.*' } },
        }),
      },
      one,
      true,
    ],
    [{ name: 'x-a' }, one, true],
    [{ name: 'x-b' }, one, false],
    [{ name: 'x-a', headerMatchSpecifier: { $case: 'presentMatch', value: true } }, one, true],
    [{ name: 'x-b', headerMatchSpecifier: { $case: 'presentMatch', value: false } }, one, true],
    [
      {
        name: 'x-b',
        headerMatchSpecifier: { $case: 'presentMatch', value: true },
        invertMatch: true,
      },
      one,
      true,
    ],
    [{ name: 'x-b', headerMatchSpecifier: string(exact('z')), invertMatch: true }, one, false],
    [
      {
        name: 'x-b',
        headerMatchSpecifier: string(exact('z')),
        invertMatch: true,
        treatMissingHeaderAsEmpty: true,
      },
      one,
      true,
    ],
    [{ name: ':method', headerMatchSpecifier: string(exact('GET')) }, [], true],
    [{ name: ':method', headerMatchSpecifier: string(exact('POST')) }, [], false],
    [{ name: ':authority', headerMatchSpecifier: string(exact('example.com')) }, [], true],
    [{ name: ':path', headerMatchSpecifier: string(exact('/?q')) }, [], true],
  ]
  test.each(cases)('%j on %j says %s', (matcher, headers, matches) => {
    const match: RouteMatch = { pathSpecifier: all, headers: [matcher] }
    const table = tableOf([{ match, action: to('a') }])
    expect(whereTo({ table }, { headers, path: '/?q' })).toBe(matches ? 'a' : 'NotFound')
  })
})

describe('a query matcher', () => {
  const cases: ReadonlyArray<readonly [QueryParameterMatcher, string, boolean]> = [
    [{ name: 'v', queryParameterMatchSpecifier: string(exact('1')) }, '/?v=1', true],
    [{ name: 'v', queryParameterMatchSpecifier: string(exact('1')) }, '/?w=0&v=1&v=2', true],
    [{ name: 'v', queryParameterMatchSpecifier: string(exact('2')) }, '/?v=1&v=2', false],
    [{ name: 'v', queryParameterMatchSpecifier: string(exact('1')) }, '/', false],
    [{ name: 'V', queryParameterMatchSpecifier: string(exact('1')) }, '/?v=1', false],
    [{ name: 'v', queryParameterMatchSpecifier: string(exact('a b')) }, '/?v=a%20b', false],
    [{ name: 'v', queryParameterMatchSpecifier: string(exact('1?2')) }, '/?v=1?2', true],
    [{ name: 'v' }, '/?v', true],
    [
      { name: 'v', queryParameterMatchSpecifier: { $case: 'presentMatch', value: true } },
      '/',
      false,
    ],
    [
      { name: 'v', queryParameterMatchSpecifier: { $case: 'presentMatch', value: false } },
      '/',
      true,
    ],
  ]
  test.each(cases)('%j on %s says %s', (matcher, path, matches) => {
    const match: RouteMatch = { pathSpecifier: all, queryParameters: [matcher] }
    expect(whereTo({ table: tableOf([{ match, action: to('a') }]) }, { path })).toBe(
      matches ? 'a' : 'NotFound',
    )
  })

  test('and every other matcher of a route must match', () => {
    const match: RouteMatch = {
      pathSpecifier: { $case: 'path', value: '/a' },
      headers: [{ name: 'x-a' }],
      queryParameters: [{ name: 'v' }],
    }
    const table = tableOf([{ match, action: to('a') }])
    const headers = [['x-a', '']] as const
    expect(whereTo({ table }, { path: '/a?v', headers })).toBe('a')
    expect(whereTo({ table }, { path: '/a', headers })).toBe('NotFound')
    expect(whereTo({ table }, { path: '/a?v' })).toBe('NotFound')
    expect(whereTo({ table }, { path: '/b?v', headers })).toBe('NotFound')
  })
})
