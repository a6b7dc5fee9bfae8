import { test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent, type Fragment, type Resource } from '../../src/core/resource.js'
import { danglingRefs, type View } from '../../src/core/snapshot.js'
import { translate } from '../../src/core/translate.js'
import { clusterType, endpointType, listenerType, routeType } from '../../src/core/type-url.js'
import { Cluster } from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.js'
import { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { HttpConnectionManager } from '../../src/gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import type { World } from '../support/oracle.js'
import { world } from '../support/oracle/world.js'

const runs = { numRuns: 1000 }

const bytesOf = ({ content }: Resource): Uint8Array => encodeContent(content)

const clustersOf = ({ action }: Route): ReadonlyArray<string> => {
  const specifier = action?.$case === 'route' ? action.value.clusterSpecifier : undefined
  switch (specifier?.$case) {
    case 'cluster':
      return [specifier.value]
    case 'weightedClusters':
      return (specifier.value.clusters ?? []).map(({ name }) => name ?? '')
    case undefined:
      return []
    case 'clusterHeader':
    case 'clusterSpecifierPlugin':
    case 'inlineClusterSpecifierPlugin':
      throw new Error(`a cluster is chosen by ${specifier.$case}`)
  }
}

/** The load assignment that a cluster waits for, if it waits for one. */
const assignmentOf = ({ name, edsClusterConfig }: Cluster): ReadonlyArray<string> =>
  edsClusterConfig === undefined ? [] : [edsClusterConfig.serviceName || (name ?? '')]

/** The table that a listener waits for. */
const tablesOf = ({ filterChains }: Listener): ReadonlyArray<string> =>
  (filterChains ?? [])
    .flatMap(({ filters }) => filters ?? [])
    .flatMap(({ configType }) => (configType?.$case === 'typedConfig' ? [configType.value] : []))
    .map(({ value }) => HttpConnectionManager.decode(value ?? new Uint8Array()))
    .flatMap(({ routeSpecifier: specifier }) =>
      specifier?.$case === 'rds' ? [specifier.value.routeConfigName ?? ''] : [],
    )

/** Each resource with its name as its bytes say it, and what its bytes refer to. */
const readAll = (view: View) => {
  const all = <A>(typeUrl: keyof View, read: (bytes: Uint8Array) => A) =>
    [...PM.entries(view[typeUrl])].map((resource) => ({
      resource,
      message: read(bytesOf(resource)),
    }))
  return {
    clusters: all(clusterType, (bytes) => Cluster.decode(bytes)),
    assignments: all(endpointType, (bytes) => ClusterLoadAssignment.decode(bytes)),
    listeners: all(listenerType, (bytes) => Listener.decode(bytes)),
    tables: all(routeType, (bytes) => RouteConfiguration.decode(bytes)),
  }
}

const namesOf = (all: ReadonlyArray<{ readonly resource: Resource }>): ReadonlyArray<string> =>
  all.map(({ resource }) => resource.name)

const unique = (names: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(names)].sort()

const viewsOf = ({ routes, context }: World): ReadonlyArray<View> => [
  ...translate(routes, context).snapshot.dataPlanes.values(),
]

const routesOf = ({ virtualHosts }: RouteConfiguration): ReadonlyArray<Route> =>
  (virtualHosts ?? []).flatMap(({ routes }) => routes ?? [])

const refNames = (all: ReadonlyArray<{ readonly resource: Resource }>) =>
  all.map(({ resource }) => resource.refs.map(({ name }) => name))

describe('a snapshot is referentially closed', () => {
  test.prop([world], runs)(
    'nothing is named that is not there, and no cluster or assignment is there that nothing names',
    (one) => {
      for (const view of viewsOf(one)) {
        expect(danglingRefs(view)).toStrictEqual([])
        const { clusters, assignments, tables } = readAll(view)
        for (const { message } of tables)
          expect(unique(routesOf(message).flatMap(clustersOf))).toStrictEqual(namesOf(clusters))
        const awaited = unique(clusters.flatMap(({ message }) => assignmentOf(message)))
        expect(awaited).toStrictEqual(namesOf(assignments))
      }
    },
  )

  test.prop([world], runs)(
    'each listener of each data plane is there, and has a table of its own name, even an empty one',
    ({ routes, context }) => {
      const { dataPlanes } = translate(routes, context).snapshot
      expect([...dataPlanes.keys()]).toStrictEqual([...context.dataPlanes.keys()].sort())
      for (const [name, view] of dataPlanes) {
        const { listeners, tables } = readAll(view)
        const wanted = context.dataPlanes
          .get(name)
          ?.listeners.map((each) => each.name)
          .sort()
        expect(namesOf(listeners)).toStrictEqual(wanted)
        expect(listeners.flatMap(({ message }) => tablesOf(message))).toStrictEqual(wanted)
        expect(namesOf(tables)).toStrictEqual(wanted)
      }
    },
  )
})

describe('what a resource says of itself is true of its bytes', () => {
  test.prop([world], runs)('its name and its references', (one) => {
    for (const { clusters, assignments, listeners, tables } of viewsOf(one).map(readAll)) {
      const named = [...clusters, ...listeners, ...tables]
      expect(named.map(({ message }) => message.name)).toStrictEqual(namesOf(named))
      const others = assignments.map(({ message }) => message.clusterName)
      expect(others).toStrictEqual(namesOf(assignments))
      expect(refNames(clusters)).toStrictEqual(clusters.map(({ message }) => assignmentOf(message)))
      expect(refNames(listeners)).toStrictEqual(listeners.map(({ message }) => tablesOf(message)))
      expect(refNames(tables)).toStrictEqual(
        tables.map(({ message }) => unique(routesOf(message).flatMap(clustersOf))),
      )
    }
  })

  test.prop([world], runs)(
    'its owners: the routes that stand in the table, or send to the cluster',
    (one) => {
      for (const view of viewsOf(one))
        for (const { resource } of readAll(view).tables) {
          const fragments = fragmentsOf(resource)
          expect(resource.owners).toStrictEqual(unique(fragments.map(({ owner }) => owner)))
          const clusters = [...PM.entries(view[clusterType])]
          const users = clusters.map(({ name }) =>
            fragments.filter((each) => each.clusters.includes(name)).map(({ owner }) => owner),
          )
          expect(clusters.map(({ owners }) => owners)).toStrictEqual(users.map(unique))
        }
    },
  )

  test.prop([world], runs)(
    'the fragments of a table: where each stands, and which clusters it names',
    (one) => {
      for (const view of viewsOf(one))
        for (const { resource, message } of readAll(view).tables) {
          const hosts = (message.virtualHosts ?? []).map((host) => host.name ?? '')
          expect(hosts).toStrictEqual(unique(hosts))
          const inBytes = (message.virtualHosts ?? []).flatMap(({ name, routes }) =>
            (routes ?? []).map((route) => [name, unique(clustersOf(route))]),
          )
          const said = fragmentsOf(resource).map((each) => [
            each.virtualHost,
            unique(each.clusters),
          ])
          expect(said).toStrictEqual(inBytes)
          const keys = hosts.map((host) => keysIn(resource, host))
          expect(keys).toStrictEqual(keys.map(unique))
        }
    },
  )
})

const fragmentsOf = ({ content }: Resource): ReadonlyArray<Fragment> => {
  if (content._tag !== 'Table') throw new Error('a route table is one piece')
  return content.table.virtualHosts.flatMap(({ fragments }) => fragments)
}

const keysIn = (table: Resource, host: string): ReadonlyArray<string> =>
  fragmentsOf(table)
    .filter(({ virtualHost }) => virtualHost === host)
    .map(({ sortKey }) => sortKey)
