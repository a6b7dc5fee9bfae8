import {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from '../../dist/gen/envoy/service/discovery/v3/discovery.js'
import { nameOf } from './names.mjs'

const service = '/envoy.service.discovery.v3.AggregatedDiscoveryService'

/**
 * The two variants of the protocol. `open` makes of `send`, which takes an encoded request, what a client says:
 * `ask` for a type, with all names that it wants now and those that have come and gone, and `ack` of a response.
 * `decode` reads a response as delta has it.
 */
export const variants = {
  delta: {
    method: `${service}/DeltaAggregatedResources`,
    decode: DeltaDiscoveryResponse.decode,
    open: (node, send) => {
      const say = withNode(node, (request) => send(DeltaDiscoveryRequest.encode(request).finish()))
      return {
        ask: (typeUrl, { came = [], went = [] } = {}) =>
          say({ typeUrl, resourceNamesSubscribe: came, resourceNamesUnsubscribe: went }),
        ack: ({ typeUrl, nonce }) => say({ typeUrl, responseNonce: nonce }),
      }
    },
  },
  sotw: {
    method: `${service}/StreamAggregatedResources`,
    decode: (bytes) => {
      const { typeUrl, nonce, versionInfo, resources } = DiscoveryResponse.decode(bytes)
      const named = resources.map((resource) => ({ name: nameOf(resource.value), resource }))
      return { typeUrl, nonce, versionInfo, resources: named, removedResources: [] }
    },
    open: (node, send) => {
      const say = withNode(node, (request) => send(DiscoveryRequest.encode(request).finish()))
      /** What the next request of a type repeats. */
      const last = new Map()
      const next = (typeUrl, news) => {
        last.set(typeUrl, { typeUrl, ...last.get(typeUrl), ...news })
        say(last.get(typeUrl))
      }
      return {
        ask: (typeUrl, { all = [] } = {}) => next(typeUrl, { resourceNames: all }),
        ack: ({ typeUrl, nonce, versionInfo }) =>
          next(typeUrl, { responseNonce: nonce, versionInfo }),
      }
    },
  },
}

/** A stream says once whose it is. */
const withNode = (node, say) => {
  let first = { node }
  return (request) => {
    say({ ...first, ...request })
    first = {}
  }
}
