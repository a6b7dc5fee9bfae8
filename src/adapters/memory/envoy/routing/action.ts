import { DataSource } from '../../../../gen/envoy/config/core/v3/base.js'
import {
  DirectResponseAction,
  type Route,
} from '../../../../gen/envoy/config/route/v3/route_components.js'
import type { Changes } from './changes.js'
import { compileForward } from './forward.js'
import { changeHeaders, type Header } from './headers.js'
import type { MatchedPath } from './match.js'
import { modelled, notModelled } from './modelled.js'
import type { Facts } from './predicates.js'
import { compileRedirect } from './redirect.js'
import type { Decision } from './request.js'

/** A request that was matched, the headers as they came, and the number that picks a cluster. */
export interface Matched {
  readonly facts: Facts
  readonly headers: ReadonlyArray<Header>
  readonly pick: number
}

export type CompiledAction = (matched: Matched) => Decision

export const compileAction = (
  action: Route['action'],
  matchedPath: MatchedPath,
  changes: Changes,
): CompiledAction => {
  switch (action?.$case) {
    case 'route':
      return compileForward(action.value, matchedPath, changes)
    case 'redirect': {
      const { code, location } = compileRedirect(action.value, matchedPath)
      const headers = changeHeaders([], changes.response)
      return ({ facts }) => ({ _tag: 'Redirected', code, location: location(facts), headers })
    }
    case 'directResponse': {
      checkDirect(action.value)
      const code = action.value.status ?? 0
      const body = readBody(action.value.body)
      const headers = changeHeaders([], changes.response)
      return () => ({ _tag: 'Responded', code, body, headers })
    }
    case 'filterAction':
    case 'nonForwardingAction':
    case undefined:
      return notModelled(`Route.${action?.$case ?? 'action being absent'}`)
  }
}

const readBody = (source: DataSource | undefined): string => {
  checkSource(source ?? {})
  const specifier = source?.specifier
  switch (specifier?.$case) {
    case undefined:
      return ''
    case 'inlineString':
      return specifier.value
    case 'inlineBytes':
      return new TextDecoder().decode(specifier.value)
    case 'filename':
    case 'environmentVariable':
      return notModelled(`DataSource.${specifier.$case}`)
  }
}

const checkDirect = modelled(DirectResponseAction, ['status', 'body'])
const checkSource = modelled(DataSource, ['specifier'])
