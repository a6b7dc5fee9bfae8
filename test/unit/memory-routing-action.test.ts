import { describe, expect, test } from 'vitest'
import type {
  Route,
  RouteAction,
  RouteMatch,
} from '../../src/gen/envoy/config/route/v3/route_components.js'
import { all, ask, forwarded, route, tableOf, to, whereTo } from '../support/memory-routing.js'

describe('a rewrite', () => {
  const cases: ReadonlyArray<
    readonly [NonNullable<RouteMatch['pathSpecifier']>, RouteAction, string, string]
  > = [
    [{ $case: 'pathSeparatedPrefix', value: '/a' }, { prefixRewrite: '/n' }, '/a/b?c', '/n/b?c'],
    [{ $case: 'pathSeparatedPrefix', value: '/a' }, { prefixRewrite: '/' }, '/a/b', '//b'],
    [
      { $case: 'pathSeparatedPrefix', value: '/a' },
      { regexRewrite: { pattern: { regex: '^/a/*' }, substitution: '/' } },
      '/a/b?c=/a/',
      '/b?c=/a/',
    ],
    [
      { $case: 'pathSeparatedPrefix', value: '/a' },
      { regexRewrite: { pattern: { regex: '^/a/*' }, substitution: '/' } },
      '/a',
      '/',
    ],
    [{ $case: 'path', value: '/a' }, { prefixRewrite: '/n' }, '/a?c', '/n?c'],
    [{ $case: 'safeRegex', value: { regex: '/a.*' } }, { prefixRewrite: '/n' }, '/a/b?c', '/n?c'],
    [
      all,
      { regexRewrite: { pattern: { regex: '/(\\w)(\\w)' }, substitution: '/\\2\\1\\0\\\\' } },
      '/ab/cd',
      '/ba/ab\\/dc/cd\\',
    ],
    [all, { regexRewrite: { pattern: { regex: '.*' }, substitution: '/n\\0' } }, '/a', '/n/a'],
    [all, { regexRewrite: { pattern: { regex: '/x' }, substitution: '/n' } }, '/a', '/a'],
  ]
  test.each(cases)('of %o by %o makes of %s the path %s', (match, action, path, expected) => {
    expect(forwarded({ table: tableOf([route(match, to('a', action))]) }, { path }).path).toBe(
      expected,
    )
  })

  test('changes the host that the backend sees, and nothing else of the request', () => {
    const host: RouteAction = {
      hostRewriteSpecifier: { $case: 'hostRewriteLiteral', value: 'internal' },
    }
    const result = forwarded({ table: tableOf([route(all, to('a', host))]) }, { path: '/a?b' })
    expect(result).toMatchObject({ host: 'internal', path: '/a?b', headers: [] })
  })
})

describe('weighted clusters', () => {
  const weighted = (action: RouteAction = {}, changes: Route = {}) =>
    tableOf([
      route(
        all,
        {
          $case: 'route',
          value: {
            clusterSpecifier: {
              $case: 'weightedClusters',
              value: {
                clusters: [
                  { name: 'a', weight: 3 },
                  { name: 'b', weight: 0 },
                  {
                    name: 'c',
                    weight: 1,
                    hostRewriteSpecifier: { $case: 'hostRewriteLiteral', value: 'c.internal' },
                    requestHeadersToAdd: [{ header: { key: 'x-c', value: '1' } }],
                  },
                ],
              },
            },
            ...action,
          },
        },
        changes,
      ),
    ])

  test.each([
    [0, 'a'],
    [0.7499, 'a'],
    [0.75, 'c'],
    [0.9999, 'c'],
  ])('give the pick %d to %s', (pick, cluster) => {
    expect(whereTo({ table: weighted() }, { pick })).toBe(cluster)
  })

  test('have changes of their own, but the host that the route names wins', () => {
    const result = forwarded({ table: weighted() }, { pick: 0.9 })
    expect(result).toMatchObject({ host: 'c.internal', headers: [['x-c', '1']] })
    const byRoute = weighted({
      hostRewriteSpecifier: { $case: 'hostRewriteLiteral', value: 'route.internal' },
    })
    expect(forwarded({ table: byRoute }, { pick: 0.9 }).host).toBe('route.internal')
  })

  test('change headers before the route does', () => {
    const byRoute = { requestHeadersToAdd: [{ header: { key: 'x-c', value: '2' } }] }
    expect(forwarded({ table: weighted({}, byRoute) }, { pick: 0.9 }).headers).toEqual([
      ['x-c', '1'],
      ['x-c', '2'],
    ])
  })
})

describe('an answer of Envoy itself', () => {
  test('is a fixed response with code and body', () => {
    const respond = route(all, {
      $case: 'directResponse',
      value: { status: 410, body: { specifier: { $case: 'inlineString', value: 'gone' } } },
    })
    expect(ask({ table: tableOf([respond]) })).toEqual({
      _tag: 'Responded',
      code: 410,
      body: 'gone',
      headers: [],
    })
  })

  const redirects: ReadonlyArray<
    readonly [Extract<Route['action'], { $case: 'redirect' }>['value'], string, number, string]
  > = [
    [{}, 'a.org', 301, 'http://a.org/a/b?c'],
    [{ responseCode: 1 }, 'a.org', 302, 'http://a.org/a/b?c'],
    [{ responseCode: 2 }, 'a.org', 303, 'http://a.org/a/b?c'],
    [{ responseCode: 3 }, 'a.org', 307, 'http://a.org/a/b?c'],
    [{ responseCode: 4 }, 'a.org', 308, 'http://a.org/a/b?c'],
    [{ hostRedirect: 'b.org' }, 'a.org:8080', 301, 'http://b.org/a/b?c'],
    [
      { schemeRewriteSpecifier: { $case: 'schemeRedirect', value: 'https' } },
      'a.org:80',
      301,
      'https://a.org/a/b?c',
    ],
    [
      { schemeRewriteSpecifier: { $case: 'httpsRedirect', value: true } },
      'a.org:8080',
      301,
      'https://a.org:8080/a/b?c',
    ],
    [{ portRedirect: 8443 }, 'a.org:80', 301, 'http://a.org:8443/a/b?c'],
    [
      { pathRewriteSpecifier: { $case: 'pathRedirect', value: '/n' } },
      'a.org',
      301,
      'http://a.org/n?c',
    ],
    [
      { pathRewriteSpecifier: { $case: 'pathRedirect', value: '/n?d' }, stripQuery: true },
      'a.org',
      301,
      'http://a.org/n?d',
    ],
    [
      { pathRewriteSpecifier: { $case: 'prefixRewrite', value: '/n' }, stripQuery: true },
      'a.org',
      301,
      'http://a.org/n/b',
    ],
  ]
  test.each(redirects)(
    'is the redirect %j, which sends %s on with %d to %s',
    (value, host, code, location) => {
      const table = tableOf([
        route({ $case: 'pathSeparatedPrefix', value: '/a' }, { $case: 'redirect', value }),
      ])
      expect(ask({ table }, { host, path: '/a/b?c' })).toMatchObject({
        _tag: 'Redirected',
        code,
        location,
      })
    },
  )

  test('is 404 where no route matches, and where the host is unknown', () => {
    const table = tableOf([route({ $case: 'path', value: '/a' }, to('a'))], { domains: ['a.org'] })
    expect(ask({ table }, { host: 'a.org', path: '/b' })).toEqual({ _tag: 'NotFound' })
    expect(ask({ table }, { host: 'b.org', path: '/a' })).toEqual({ _tag: 'NotFound' })
    expect(ask({ table: { name: 'table' } })).toEqual({ _tag: 'NotFound' })
  })

  test('is no answer at all where no listener is, or its table has not come (2.5, 55)', () => {
    const table = tableOf([route(all, to('a'))])
    expect(ask({ table }, { listener: 'other' })).toEqual({ _tag: 'ConnectionRefused' })
    expect(ask({ table }, { listener: 1 })).toEqual({ _tag: 'ConnectionRefused' })
    expect(ask({})).toEqual({ _tag: 'ConnectionRefused' })
    expect(whereTo({ table }, { listener: 'http' })).toBe('a')
  })
})
