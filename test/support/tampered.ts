import {
  bytesResource,
  clusterType,
  defaultDataPlane,
  encodeContent,
  entries,
  type Fragment,
  listenerType,
  type Resource,
  type RouteTable,
  routeType,
  type Snapshot,
  tableResource,
  type TypeUrl,
  typeUrls,
  view,
  viewOf,
} from 'edgewright'
import { digest } from '../../src/core/digest.js'
import { Cluster, Cluster_LbPolicy } from '../../src/gen/envoy/config/cluster/v3/cluster.js'
import { Listener } from '../../src/gen/envoy/config/listener/v3/listener.js'
import { Route } from '../../src/gen/envoy/config/route/v3/route_components.js'

/** Makes another snapshot of one, with something in it that `translate` would not make. */
export type Tamper = (snapshot: Snapshot) => Snapshot

/** Changes the resources of one type in one data plane. */
export const tamper =
  (
    typeUrl: TypeUrl,
    change: (resources: ReadonlyArray<Resource>) => ReadonlyArray<Resource>,
    plane: string = defaultDataPlane,
  ): Tamper =>
  (snapshot) => {
    const own = viewOf(snapshot, plane)
    const all = Object.fromEntries(typeUrls.map((each) => [each, [...entries(own[each])]]))
    const changed = view({ ...all, [typeUrl]: change([...entries(own[typeUrl])]) })
    return { dataPlanes: new Map([...snapshot.dataPlanes, [plane, changed]]) }
  }

/** Changes every Route of an object: in every table, or in that of one listener. */
export const tamperRoute = (
  uid: string,
  change: (fragment: Fragment) => Partial<Pick<Fragment, 'match' | 'rest' | 'clusters'>>,
  { table, plane }: { readonly table?: string; readonly plane?: string } = {},
): Tamper =>
  tamper(
    routeType,
    (tables) =>
      tables.map((resource) =>
        resource.content._tag === 'Table' && (table === undefined || table === resource.name)
          ? tableResource(resource.name, withChanged(resource.content.table, uid, change))
          : resource,
      ),
    plane,
  )

const withChanged = (
  table: RouteTable,
  uid: string,
  change: (fragment: Fragment) => Partial<Fragment>,
): RouteTable => ({
  ...table,
  virtualHosts: table.virtualHosts.map((host) => ({
    ...host,
    fragments: host.fragments.map((fragment) => {
      if (fragment.owner !== uid) return fragment
      const changed = { ...fragment, ...change(fragment) }
      return { ...changed, version: digest([changed.match, changed.rest]) }
    }),
  })),
})

/** A regular expression that is none. Envoy's message: `missing ]: [`. */
export const withBadRegex = (): Pick<Fragment, 'match'> => ({
  match: Route.encode({
    match: { pathSpecifier: { $case: 'safeRegex', value: { regex: '/[' } } },
  }).finish(),
})

/** A header made of something that Envoy does not know. Envoy's message names `EDGEWRIGHT_NONE`. */
export const withBadHeader = ({ rest }: Fragment): Pick<Fragment, 'rest'> => {
  const header = { key: 'x-none', value: '%EDGEWRIGHT_NONE%' }
  const addition = Route.encode({ responseHeadersToAdd: [{ header }] }).finish()
  return { rest: new Uint8Array([...rest, ...addition]) }
}

/** Changes the clusters of an object, under their names, which no product of `translate` does. */
export const tamperClusters = (
  uid: string,
  change: (cluster: Cluster) => Cluster,
  plane?: string,
): Tamper =>
  tamper(
    clusterType,
    (clusters) =>
      clusters.map((resource) =>
        resource.owners.includes(uid)
          ? bytesResource(
              resource.name,
              Cluster.encode(change(Cluster.decode(encodeContent(resource.content)))).finish(),
              resource.refs,
              resource.owners,
            )
          : resource,
      ),
    plane,
  )

/** Envoy refuses this one and takes the others of its response. Its message names the ring. */
export const withBadRing = (cluster: Cluster): Cluster => ({
  ...cluster,
  lbPolicy: Cluster_LbPolicy.RING_HASH,
  lbConfig: {
    $case: 'ringHashLbConfig',
    value: { minimumRingSize: 2_048n, maximumRingSize: 1_024n },
  },
})

/** A DNS cluster that warms until its resolver has answered, as Envoy does if it is not told otherwise. */
export const thatWarms = (cluster: Cluster): Cluster => ({ ...cluster, waitForWarmOnInit: true })

/** A listener that Envoy refuses: it has nowhere to listen. */
export const badListener = (name: string): Resource =>
  bytesResource(name, Listener.encode({ name, address: at(1, 'nowhere') }).finish())

/** Adds a listener beside those that are there. */
export const withListener = (listener: Resource): Tamper =>
  tamper(listenerType, (listeners) => [...listeners, listener])

/** Adds a twin of the listener `http` at another port: it works at once, since its table is there. */
export const withTwin = (name: string, port: number): Tamper =>
  tamper(listenerType, (listeners) => [
    ...listeners,
    ...listeners.filter((each) => each.name === 'http').map((each) => twinOf(each, name, port)),
  ])

const twinOf = ({ content, refs }: Resource, name: string, port: number): Resource => {
  const own = Listener.decode(encodeContent(content))
  return bytesResource(name, Listener.encode({ ...own, name, address: at(port) }).finish(), refs)
}

const at = (port: number, address = '127.0.0.1'): NonNullable<Listener['address']> => ({
  address: {
    $case: 'socketAddress',
    value: { address, portSpecifier: { $case: 'portValue', value: port } },
  },
})

/** Takes a table away, which Envoy acknowledges and does not do. */
export const withoutTable = (name: string): Tamper =>
  tamper(routeType, (tables) => tables.filter((table) => table.name !== name))
