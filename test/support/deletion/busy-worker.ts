import { bytesResource, encodeContent, listenerType, type Resource } from 'edgewright'
import { Listener } from '../../../src/gen/envoy/config/listener/v3/listener.js'
import type { Filter } from '../../../src/gen/envoy/config/listener/v3/listener_components.js'
import { Lua } from '../../../src/gen/envoy/extensions/filters/http/lua/v3/lua.js'
import {
  HttpConnectionManager,
  type HttpFilter,
} from '../../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import { tamper, type Tamper } from '../tampered.js'

/** A request with it keeps the worker that takes it from all else for so many milliseconds. */
export const busyHeader = 'x-busy'

const script = `
function envoy_on_request(handle)
  local busy = handle:headers():get("${busyHeader}")
  if busy ~= nil then
    local stop = handle:timestamp() + tonumber(busy)
    while handle:timestamp() < stop do end
  end
end
`

const busyFilter: HttpFilter = {
  name: 'envoy.filters.http.lua',
  configType: {
    $case: 'typedConfig',
    value: {
      typeUrl: `type.googleapis.com/${Lua.$type}`,
      value: Lua.encode({
        defaultSourceCode: { specifier: { $case: 'inlineString', value: script } },
      }).finish(),
    },
  },
}

/** Lets requests keep workers busy, before anything is done with them. */
export const withBusyRequests: Tamper = tamper(listenerType, (listeners) =>
  listeners.map(withFilter),
)

const withFilter = ({ content, name, refs, owners }: Resource): Resource => {
  const listener = Listener.decode(encodeContent(content))
  const filterChains = (listener.filterChains ?? []).map((chain) => ({
    ...chain,
    filters: (chain.filters ?? []).map(withFirst),
  }))
  return bytesResource(name, Listener.encode({ ...listener, filterChains }).finish(), refs, owners)
}

const withFirst = (filter: Filter): Filter => {
  const { configType } = filter
  if (configType?.$case !== 'typedConfig') return filter
  const { typeUrl, value } = configType.value
  const manager = HttpConnectionManager.decode(value ?? new Uint8Array())
  const httpFilters = [busyFilter, ...(manager.httpFilters ?? [])]
  return {
    ...filter,
    configType: {
      $case: 'typedConfig',
      value: {
        ...(typeUrl !== undefined && { typeUrl }),
        value: HttpConnectionManager.encode({ ...manager, httpFilters }).finish(),
      },
    },
  }
}
