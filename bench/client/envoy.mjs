import { Client, credentials } from '@grpc/grpc-js'
import { clusterType, endpointType, listenerType, routeType } from 'edgewright'
import {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
} from '../../dist/gen/envoy/service/discovery/v3/discovery.js'
import { endpointNames, routesOfListener, scopedRouteType, tableOfScope } from './names.mjs'

const method = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources'

const options = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // Each Envoy has a connection of its own,
  'grpc.use_local_subchannel_pool': 1,
  // and reads ahead: what a server spends on window updates is no part of a benchmark.
  'grpc-node.flow_control_window': 2 ** 24,
}

/**
 * Connects as an Envoy does, over delta ADS, and accepts all that it is sent.
 *
 * It asks for clusters, for their endpoints, and once it has these for listeners, and for the scopes and tables that
 * they name. Clusters are accepted when their endpoints are there. `onResponse` is told of each response.
 */
export const openEnvoy = (port, id, { onResponse, onSynced }) => {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options)
  const call = client.makeBidiStreamRequest(
    method,
    (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    (bytes) => bytes,
  )
  call.on('error', ({ message }) => {
    throw new Error(`the stream of ${id} has ended: ${message}`)
  })
  let node = { id, cluster: 'edge-envoy' }
  const send = (request) => {
    call.write(DeltaDiscoveryRequest.encode({ node, ...request }).finish())
    node = undefined // A stream says once whose it is.
  }
  const envoy = envoyOn(send, onSynced)
  call.on('data', (bytes) => {
    const response = DeltaDiscoveryResponse.decode(bytes)
    envoy(response)
    onResponse(response.typeUrl, bytes)
  })
  send({ typeUrl: clusterType })
}

/** What it does with responses. */
const envoyOn = (send, onSynced) => {
  const endpoints = subscription(send, endpointType)
  const tables = subscription(send, routeType)
  /** By the listener or the scope that names them. */
  const tablesOf = new Map()
  const endpointsOf = new Map()
  let unready = []
  let isSynced = false
  let asksForListeners = false
  let asksForScopes = false
  let hasScopes = false
  let hasListeners = false
  const ack = ({ typeUrl, nonce }) => send({ typeUrl, responseNonce: nonce })
  const follow = {
    [clusterType]: (response) => {
      takeIn(endpointsOf, response, (bytes) => endpointNames(bytes))
      endpoints.become([...endpointsOf.values()].flat())
      unready.push(response)
    },
    [endpointType]: (response) => {
      endpoints.take(response)
      ack(response)
    },
    [listenerType]: (response) => {
      takeIn(tablesOf, response, (bytes) => {
        const { tables, isScoped } = routesOfListener(bytes)
        if (isScoped && !asksForScopes) send({ typeUrl: scopedRouteType })
        asksForScopes ||= isScoped
        return tables
      })
      hasListeners = true
      tables.become([...tablesOf.values()].flat())
      ack(response)
    },
    [scopedRouteType]: (response) => {
      takeIn(tablesOf, response, (bytes) => [tableOfScope(bytes)])
      hasScopes = true
      tables.become([...tablesOf.values()].flat())
      ack(response)
    },
    [routeType]: (response) => {
      tables.take(response)
      ack(response)
    },
  }
  return (response) => {
    follow[response.typeUrl](response)
    if (unready.length > 0 && endpoints.isComplete()) {
      unready.forEach(ack)
      unready = []
      if (!asksForListeners) send({ typeUrl: listenerType })
      asksForListeners = true
    }
    const hasAll = hasListeners && hasScopes === asksForScopes && tables.isComplete()
    if (!isSynced && hasAll && unready.length === 0) {
      isSynced = true
      onSynced()
    }
  }
}

const takeIn = (known, { resources, removedResources }, read) => {
  for (const { name, resource } of resources) known.set(name, read(resource.value))
  for (const name of removedResources) known.delete(name)
}

/** The names of a type that are asked for, and those of them that have not come. */
const subscription = (send, typeUrl) => {
  let wanted = new Set()
  const missing = new Set()
  return {
    become: (names) => {
      const next = new Set(names)
      const subscribe = [...next].filter((name) => !wanted.has(name))
      const unsubscribe = [...wanted].filter((name) => !next.has(name))
      wanted = next
      for (const name of subscribe) missing.add(name)
      for (const name of unsubscribe) missing.delete(name)
      if (subscribe.length + unsubscribe.length === 0) return
      send({
        typeUrl,
        resourceNamesSubscribe: subscribe,
        resourceNamesUnsubscribe: unsubscribe,
      })
    },
    take: ({ resources, removedResources }) => {
      for (const { name } of resources) missing.delete(name)
      for (const name of removedResources) missing.delete(name)
    },
    isComplete: () => missing.size === 0,
  }
}
