import { describe, expect, test } from 'vitest'
import type { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type {
  RouteMatch,
  VirtualHost,
} from '../../src/gen/envoy/config/route/v3/route_components.js'
import type { HttpConnectionManager } from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import {
  all,
  ask,
  forwarded,
  route,
  staticCluster,
  tableOf,
  to,
  whereTo,
} from '../support/memory-routing.js'

describe('a path', () => {
  const cases: ReadonlyArray<readonly [NonNullable<RouteMatch['pathSpecifier']>, string, boolean]> =
    [
      [{ $case: 'prefix', value: '/a' }, '/a', true],
      [{ $case: 'prefix', value: '/a' }, '/ab', true],
      [{ $case: 'prefix', value: '/a' }, '/', false],
      [{ $case: 'pathSeparatedPrefix', value: '/a' }, '/a', true],
      [{ $case: 'pathSeparatedPrefix', value: '/a' }, '/a/', true],
      [{ $case: 'pathSeparatedPrefix', value: '/a' }, '/a/b', true],
      [{ $case: 'pathSeparatedPrefix', value: '/a' }, '/a?b', true],
      [{ $case: 'pathSeparatedPrefix', value: '/a' }, '/ab', false],
      [{ $case: 'pathSeparatedPrefix', value: '/a' }, '/A', false],
      [{ $case: 'path', value: '/a' }, '/a', true],
      [{ $case: 'path', value: '/a' }, '/a?b=c', true],
      [{ $case: 'path', value: '/a' }, '/a/', false],
      [{ $case: 'safeRegex', value: { regex: '/a|/b' } }, '/b?c', true],
      [{ $case: 'safeRegex', value: { regex: '/a' } }, '/a/b', false],
      [{ $case: 'safeRegex', value: { regex: '.*/b' } }, '/a/b', true],
    ]
  test.each(cases)('%o matches %s: %s', (pathSpecifier, path, matches) => {
    const table = tableOf([route(pathSpecifier, to('a'))])
    expect(whereTo({ table }, { path })).toBe(matches ? 'a' : 'NotFound')
  })

  test('is compared without regard to case where the match says so', () => {
    const match: RouteMatch = {
      pathSpecifier: { $case: 'path', value: '/Ab' },
      caseSensitive: false,
    }
    expect(whereTo({ table: tableOf([{ match, action: to('a') }]) }, { path: '/aB' })).toBe('a')
  })

  test('is taken by the first route that matches, however much longer a later prefix is', () => {
    const short = route({ $case: 'prefix', value: '/a' }, to('a'))
    const long = route({ $case: 'prefix', value: '/a/b' }, to('b'))
    expect(whereTo({ table: tableOf([short, long]) }, { path: '/a/b' })).toBe('a')
    expect(whereTo({ table: tableOf([long, short]) }, { path: '/a/b' })).toBe('b')
  })
})

describe('normalisation', () => {
  const table = tableOf([route(all, to('a'))])
  const cases: ReadonlyArray<readonly [HttpConnectionManager, string, string]> = [
    [{}, '/a/../b//c/%41?x=//', '/a/../b//c/%41?x=//'],
    [{ normalizePath: true }, '/a/../b', '/b'],
    [{ normalizePath: true }, '/a/%2e%2E/b', '/b'],
    [{ normalizePath: true }, '/a/b/..', '/a/'],
    [{ normalizePath: true }, '/../..', '/'],
    [{ normalizePath: true }, '/a/./b/.', '/a/b/'],
    [{ normalizePath: true }, '/a//../b', '/a/b'],
    [{ normalizePath: true }, '/a\\b', '/a/b'],
    [{ normalizePath: true }, '/%41%7e%2d%2f%2F%zz', '/A~-%2f%2F%zz'],
    [{ normalizePath: true }, '/{x}', '/%7Bx%7D'],
    [{ normalizePath: true }, '/a//b?q=/../', '/a//b?q=/../'],
    [{ mergeSlashes: true }, '/a//b///', '/a/b/'],
    [{ mergeSlashes: true }, '///', '//'],
    [{ mergeSlashes: true }, '/a?b=//', '/a?b=//'],
    [{ normalizePath: true, mergeSlashes: true }, '//a//..//b', '/a/b'],
  ]
  test.each(cases)('with %o makes of %s the path %s', (options, path, expected) => {
    expect(forwarded({ table, manager: options }, { path }).path).toBe(expected)
  })

  test('takes the last dot off a host only where the listener says so', () => {
    const exact: RouteConfiguration = tableOf([route(all, to('a'))], { domains: ['example.com'] })
    const host = 'example.com.'
    expect(whereTo({ table: exact }, { host })).toBe('NotFound')
    const strip = { stripTrailingHostDot: true }
    expect(forwarded({ table: exact, manager: strip }, { host }).host).toBe('example.com')
  })

  test.each([
    ['a', {}, 400],
    ['*', {}, 400],
    ['/a#b', {}, 400],
    ['/\u00e9', {}, 400],
    ['/%00', { normalizePath: true }, 400],
    ['/%00', {}, undefined],
    ['/?%00', { normalizePath: true }, undefined],
  ])('of %j with %j is answered with %s', (path, options, code) => {
    expect(ask({ table, manager: options }, { path })).toMatchObject(
      code === undefined ? { _tag: 'Forwarded' } : { _tag: 'Responded', code },
    )
  })
})

describe('a host', () => {
  const host = (domain: string, cluster: string): VirtualHost => ({
    name: domain,
    domains: [domain],
    routes: [route({ $case: 'prefix', value: '/ok' }, to(cluster))],
  })
  const clusters = ['any', 'suffix', 'longer', 'exact', 'port', 'prefix'].map((name) =>
    staticCluster(name, 1),
  )
  const table: RouteConfiguration = {
    name: 'table',
    virtualHosts: [
      host('*', 'any'),
      host('*.example.com', 'suffix'),
      host('*.b.example.com', 'longer'),
      host('A.Example.com', 'exact'),
      host('www.*', 'prefix'),
      host('ported.org:8080', 'port'),
    ],
  }
  const cases: ReadonlyArray<readonly [string, string]> = [
    ['a.example.com', 'exact'],
    ['A.EXAMPLE.COM', 'exact'],
    ['x.example.com', 'suffix'],
    ['x.y.example.com', 'suffix'],
    ['x.b.example.com', 'longer'],
    ['b.example.com', 'suffix'],
    ['.example.com', 'any'],
    ['example.com', 'any'],
    ['www.example.com', 'suffix'],
    ['www.org', 'prefix'],
    ['a.example.com:8080', 'any'],
    ['ported.org:8080', 'port'],
    ['ported.org', 'any'],
  ]
  test.each(cases)('%s belongs to the virtual host %s', (name, cluster) => {
    expect(whereTo({ table, clusters }, { host: name, path: '/ok' })).toBe(cluster)
  })

  test('has no second chance in a less specific virtual host', () => {
    const others = { ...table, virtualHosts: [host('*', 'any'), host('a.org', 'exact')] }
    const any = tableOf([route(all, to('any'))])
    const both = { ...others, virtualHosts: [...(any.virtualHosts ?? []), host('a.org', 'exact')] }
    expect(whereTo({ table: both, clusters }, { host: 'a.org', path: '/other' })).toBe('NotFound')
    expect(whereTo({ table: both, clusters }, { host: 'b.org', path: '/other' })).toBe('any')
  })

  test('is found without its port where the table says so', () => {
    const ignoring = { ...table, ignorePortInHostMatching: true }
    expect(whereTo({ table: ignoring, clusters }, { host: 'a.example.com:1', path: '/ok' })).toBe(
      'exact',
    )
  })

  test('that stands in a table twice is an error, as it is a refusal in Envoy', () => {
    const twice = { ...table, virtualHosts: [host('a.org', 'any'), host('A.org', 'exact')] }
    expect(() => ask({ table: twice, clusters })).toThrow('stands in it twice')
  })
})
