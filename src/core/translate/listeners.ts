import { Listener } from '../../gen/envoy/config/listener/v3/listener.js'
import { Router } from '../../gen/envoy/extensions/filters/http/router/v3/router.js'
import { HttpConnectionManager } from '../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.js'
import type { Any } from '../../gen/google/protobuf/any.js'
import type { HttpListener } from '../context.js'
import { compareStrings } from '../order.js'
import { bytesResource, type Resource } from '../resource.js'
import { routeType } from '../type-url.js'
import { adsSource } from './ads-source.js'

/**
 * The listeners of a data plane. They depend on its configuration alone, and on no route. Of several with one
 * name the same one counts always.
 */
export const listenersOf = (listeners: ReadonlyArray<HttpListener>): ReadonlyArray<Resource> =>
  [...listeners]
    .sort(byAddress)
    .map((listener) =>
      bytesResource(listener.name, Listener.encode(message(listener)).finish(), [
        { typeUrl: routeType, name: listener.name },
      ]),
    )

const byAddress = (a: HttpListener, b: HttpListener): number =>
  compareStrings(`${a.address} ${a.port}`, `${b.address} ${b.port}`)

const message = ({ name, address, port }: HttpListener): Listener => ({
  name,
  address: {
    address: {
      $case: 'socketAddress',
      value: { address, portSpecifier: { $case: 'portValue', value: port } },
    },
  },
  filterChains: [
    {
      filters: [
        {
          name: 'envoy.filters.network.http_connection_manager',
          configType: {
            $case: 'typedConfig',
            value: packed(
              HttpConnectionManager.$type,
              HttpConnectionManager.encode(connectionManager(name)).finish(),
            ),
          },
        },
      ],
    },
  ],
})

const connectionManager = (name: string): HttpConnectionManager => ({
  statPrefix: name,
  routeSpecifier: { $case: 'rds', value: { configSource: adsSource, routeConfigName: name } },
  httpFilters: [
    {
      name: 'envoy.filters.http.router',
      configType: {
        $case: 'typedConfig',
        value: packed(Router.$type, Router.encode({}).finish()),
      },
    },
  ],
  // An edge proxy takes the client's address from the connection, not from what the client says.
  useRemoteAddress: true,
  // Routes are matched on what a path means: `/a/../b` and `//b` are `/b`.
  normalizePath: true,
  mergeSlashes: true,
  // `example.com.` is `example.com`, fully qualified.
  stripTrailingHostDot: true,
})

const packed = (type: string, value: Uint8Array): Any => ({
  typeUrl: `type.googleapis.com/${type}`,
  value,
})
