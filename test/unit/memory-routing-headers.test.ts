import { type Request } from 'edgewright/memory'
import { describe, expect, test } from 'vitest'
import { HeaderValueOption_HeaderAppendAction as AppendAction } from '../../src/gen/envoy/config/core/v3/base.js'
import type { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { all, ask, forwarded, route, tableOf, to } from '../support/memory-routing.js'

describe('header changes', () => {
  const added = (key: string, value: string, appendAction: AppendAction) => ({
    header: { key, value },
    appendAction,
  })
  const headersOf = (changes: Route, headers: Request['headers'] = []) =>
    forwarded({ table: tableOf([route(all, to('a'), changes)]) }, { headers }).headers

  test.each([
    ['append', AppendAction.APPEND_IF_EXISTS_OR_ADD, ['old', 'new'], ['new']],
    ['add if absent', AppendAction.ADD_IF_ABSENT, ['old'], ['new']],
    ['overwrite', AppendAction.OVERWRITE_IF_EXISTS_OR_ADD, ['new'], ['new']],
    ['overwrite if there', AppendAction.OVERWRITE_IF_EXISTS, ['new'], []],
  ])('%s', (_name, action, whenThere, whenAbsent) => {
    const changes = { requestHeadersToAdd: [added('X-A', 'new', action)] }
    const values = (headers: Request['headers']) =>
      headersOf(changes, headers).map(([, value]) => value)
    expect(values([['x-a', 'old']])).toEqual(whenThere)
    expect(values([])).toEqual(whenAbsent)
  })

  test('take away before they add', () => {
    const changes = {
      requestHeadersToRemove: ['X-A'],
      requestHeadersToAdd: [added('x-a', 'new', AppendAction.ADD_IF_ABSENT)],
    }
    expect(headersOf(changes, [['x-a', 'old']])).toEqual([['x-a', 'new']])
  })

  test('read %% as a percent sign, and are not guessed where a command stands', () => {
    const value = (text: string) => ({
      requestHeadersToAdd: [added('x-a', text, AppendAction.APPEND_IF_EXISTS_OR_ADD)],
    })
    expect(headersOf(value('100%% of %%s'))).toEqual([['x-a', '100% of %s']])
    expect(() => headersOf(value('%PROTOCOL%'))).toThrow('not modelled: the command %PROTOCOL%')
  })

  test('add an empty value only where it is to be kept', () => {
    const empty = added('x-a', '', AppendAction.APPEND_IF_EXISTS_OR_ADD)
    expect(headersOf({ requestHeadersToAdd: [empty] })).toEqual([])
    expect(headersOf({ requestHeadersToAdd: [{ ...empty, keepEmptyValue: true }] })).toEqual([
      ['x-a', ''],
    ])
  })

  test('go from the route up, so that the table has the last word', () => {
    const overwrite = (value: string) => ({
      requestHeadersToAdd: [added('x-a', value, AppendAction.OVERWRITE_IF_EXISTS_OR_ADD)],
    })
    const host = tableOf([route(all, to('a'), overwrite('route'))], overwrite('host'))
    expect(forwarded({ table: host }).headers).toEqual([['x-a', 'host']])
    expect(forwarded({ table: { ...host, ...overwrite('table') } }).headers).toEqual([
      ['x-a', 'table'],
    ])
  })

  test('of responses are handed on for what the backend answers, and done to what Envoy answers', () => {
    const changes = {
      responseHeadersToAdd: [added('x-a', '1', AppendAction.APPEND_IF_EXISTS_OR_ADD)],
      responseHeadersToRemove: ['server'],
    }
    const [change] = forwarded({ table: tableOf([route(all, to('a'), changes)]) }).responseChanges
    expect(change).toEqual({
      remove: ['server'],
      add: [{ name: 'x-a', value: '1', action: 'append' }],
    })
    const respond = route(all, { $case: 'directResponse', value: { status: 204 } }, changes)
    expect(ask({ table: tableOf([respond]) })).toMatchObject({ headers: [['x-a', '1']] })
  })
})
