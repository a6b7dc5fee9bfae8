import { expect, test } from 'vitest'
import { scopeHeader, scopeScript } from '../../src/core/table-form.js'
import type { ScopedRoutes } from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import { type ScopedSettings, scopedManager } from '../support/memory-scopes.js'
import { all, ask, route, tableOf, to } from '../support/memory-routing.js'

const table = tableOf([route(all, to('a'))])

const asked = (settings: ScopedSettings): (() => unknown) => {
  const manager = scopedManager(settings)
  return () => ask({ manager, table }, { headers: [[scopeHeader, 'key']] })
}

const fragment = (value: object): ScopedRoutes => ({
  scopeKeyBuilder: {
    fragments: [{ type: { $case: 'headerValueExtractor', value: { name: 'x', ...value } } }],
  },
})

test('a script that is not ours is not modelled, by whatever it differs', () => {
  const ours = scopeScript(256)
  expect(asked({ script: ours })()).toEqual({ _tag: 'NotFound' })
  for (const script of [
    '',
    'function envoy_on_request() end',
    `${ours} `,
    ours.replace('5381', '5382'),
  ])
    expect(asked({ script })).toThrow('not modelled: a Lua script of others')
  expect(asked({ script: ours.replace('% 256)', '% 255)') })).toThrow('not modelled')
})

test('a key that is not one whole header is not modelled', () => {
  const index = { extractType: { $case: 'index', value: 0 } }
  expect(asked({ routes: fragment(index) })()).toEqual({ _tag: 'NotFound' })
  expect(asked({ routes: fragment({ ...index, elementSeparator: ';' }) })).toThrow(
    'elementSeparator',
  )
  expect(asked({ routes: fragment({ extractType: { $case: 'index', value: 1 } }) })).toThrow(
    'part of',
  )
  expect(asked({ routes: fragment({}) })).toThrow('not modelled')
  expect(asked({ routes: { scopeKeyBuilder: { fragments: [] } } })).toThrow(
    'other than one fragment',
  )
})

test('scopes in a listener are not modelled', () => {
  const value = { scopedRouteConfigurations: [] }
  const configSpecifier = { $case: 'scopedRouteConfigurationsList', value } as const
  expect(asked({ routes: { configSpecifier } })).toThrow('not modelled: scopes in a listener')
})
