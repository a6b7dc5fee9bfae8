import { bytesResource, encodeContent, type Resource } from 'edgewright'
import { Listener } from '../../../src/gen/envoy/config/listener/v3/listener.js'
import type { Filter } from '../../../src/gen/envoy/config/listener/v3/listener_components.js'
import { HTTPFault } from '../../../src/gen/envoy/extensions/filters/http/fault/v3/fault.js'
import {
  HttpConnectionManager,
  type HttpFilter,
} from '../../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import { FractionalPercent_DenominatorType } from '../../../src/gen/envoy/type/v3/percent.js'
import { delayHeader, delayMs } from './delay.js'

/** The listener with a fault filter in front of its other HTTP filters. */
export const withFaultFilter = (listener: Resource): Resource => {
  const message = Listener.decode(encodeContent(listener.content))
  const filterChains = (message.filterChains ?? []).map((chain) => ({
    ...chain,
    filters: (chain.filters ?? []).map(withFault),
  }))
  const bytes = Listener.encode({ ...message, filterChains }).finish()
  return bytesResource(listener.name, bytes, listener.refs, listener.owners)
}

const managerType = `type.googleapis.com/${HttpConnectionManager.$type}`

const withFault = (filter: Filter): Filter => {
  const { configType } = filter
  if (configType?.$case !== 'typedConfig' || configType.value.typeUrl !== managerType)
    throw new Error(`filter ${filter.name ?? ''} is no HTTP connection manager`)
  const manager = HttpConnectionManager.decode(configType.value.value ?? new Uint8Array())
  const httpFilters = [faultFilter, ...(manager.httpFilters ?? [])]
  const value = HttpConnectionManager.encode({ ...manager, httpFilters }).finish()
  return {
    ...filter,
    configType: { $case: 'typedConfig', value: { typeUrl: managerType, value } },
  }
}

const faultFilter: HttpFilter = {
  name: 'envoy.filters.http.fault',
  configType: {
    $case: 'typedConfig',
    value: {
      typeUrl: `type.googleapis.com/${HTTPFault.$type}`,
      value: HTTPFault.encode({
        delay: {
          faultDelaySecifier: {
            $case: 'fixedDelay',
            value: { seconds: 0n, nanos: delayMs * 1_000_000 },
          },
          percentage: { numerator: 100, denominator: FractionalPercent_DenominatorType.HUNDRED },
        },
        headers: [
          { name: delayHeader, headerMatchSpecifier: { $case: 'presentMatch', value: true } },
        ],
      }).finish(),
    },
  },
}
