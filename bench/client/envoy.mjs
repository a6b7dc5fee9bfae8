import { Client, credentials } from '@grpc/grpc-js'
import { clusterType, endpointType, listenerType, routeType } from 'edgewright'
import { endpointNames, routesOfListener, scopedRouteType, tableOfScope } from './names.mjs'
import { variants } from './variants.mjs'

const options = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // Each Envoy has a connection of its own,
  'grpc.use_local_subchannel_pool': 1,
  // and reads ahead: what a server spends on window updates is no part of a benchmark.
  'grpc-node.flow_control_window': 2 ** 24,
}

/**
 * Connects as an Envoy does, over delta or SotW ADS, and accepts all that it is sent.
 *
 * It asks for clusters, for their endpoints, and once it has these for listeners, and for the scopes and tables that
 * they name. Clusters are accepted when their endpoints are there. `onResponse` is told of each response.
 */
export const openEnvoy = (port, { id, variant }, { onResponse, onSynced }) => {
  const { method, decode, open } = variants[variant]
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options)
  const call = client.makeBidiStreamRequest(
    method,
    (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    (bytes) => bytes,
  )
  call.on('error', ({ message }) => {
    throw new Error(`the stream of ${id} has ended: ${message}`)
  })
  const says = open({ id, cluster: 'edge-envoy' }, (bytes) => call.write(bytes))
  const envoy = envoyOn(says, onSynced)
  call.on('data', (bytes) => {
    const response = decode(bytes)
    envoy(response)
    onResponse(response.typeUrl, bytes)
  })
  says.ask(clusterType)
}

/** What it does with responses. */
const envoyOn = ({ ask, ack }, onSynced) => {
  const endpoints = subscription(ask, endpointType)
  const tables = subscription(ask, routeType)
  /** By the listener or the scope that names them. */
  const tablesOf = new Map()
  const endpointsOf = new Map()
  let unready = []
  let isSynced = false
  let asksForListeners = false
  let asksForScopes = false
  let hasScopes = false
  let hasListeners = false
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
        if (isScoped && !asksForScopes) ask(scopedRouteType)
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
      if (!asksForListeners) ask(listenerType)
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
const subscription = (ask, typeUrl) => {
  let wanted = new Set()
  const missing = new Set()
  return {
    become: (names) => {
      const next = new Set(names)
      const came = [...next].filter((name) => !wanted.has(name))
      const went = [...wanted].filter((name) => !next.has(name))
      wanted = next
      for (const name of came) missing.add(name)
      for (const name of went) missing.delete(name)
      if (came.length + went.length > 0) ask(typeUrl, { all: [...next], came, went })
    },
    take: ({ resources, removedResources }) => {
      for (const { name } of resources) missing.delete(name)
      for (const name of removedResources) missing.delete(name)
    },
    isComplete: () => missing.size === 0,
  }
}
