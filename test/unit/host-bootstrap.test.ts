import { bootstrap, defaultMaxConnections, showHostPort } from 'edgewright/host'
import { describe, expect, test } from 'vitest'

const xds = { host: '127.0.0.1', port: 18_000 }

describe('bootstrap', () => {
  test('an Envoy says its own id, and its data plane as its cluster', () => {
    expect(bootstrap({ id: 'a', xds })).toMatchObject({ node: { id: 'a', cluster: 'edge-envoy' } })
    expect(bootstrap({ id: 'a', xds, dataPlane: 'blue' })).toMatchObject({
      node: { id: 'a', cluster: 'blue' },
    })
  })

  test('listeners and clusters come over one aggregated stream, incremental unless asked for', () => {
    const ads = (apiType: string): object => ({
      dynamic_resources: {
        ads_config: { api_type: apiType, transport_api_version: 'V3' },
        cds_config: { resource_api_version: 'V3', ads: {} },
        lds_config: { resource_api_version: 'V3', ads: {} },
      },
    })
    expect(bootstrap({ id: 'a', xds })).toMatchObject(ads('DELTA_GRPC'))
    expect(bootstrap({ id: 'a', xds, variant: 'delta' })).toMatchObject(ads('DELTA_GRPC'))
    expect(bootstrap({ id: 'a', xds, variant: 'sotw' })).toMatchObject(ads('GRPC'))
  })

  test('there is no admin interface unless an address is given', () => {
    expect(bootstrap({ id: 'a', xds })).not.toHaveProperty('admin')
    expect(bootstrap({ id: 'a', xds, admin: { host: '::1', port: 9901 } })).toMatchObject({
      admin: { address: { socket_address: { address: '::1', port_value: 9901 } } },
    })
  })

  test.each([
    ['127.0.0.1', 'STATIC'],
    ['::1', 'STATIC'],
    ['edgewright.internal', 'STRICT_DNS'],
    ['10.example', 'STRICT_DNS'],
  ])('the control plane at %s is a cluster of type %s', (host, type) => {
    expect(bootstrap({ id: 'a', xds: { host, port: 1 } })).toMatchObject({
      static_resources: { clusters: [{ name: 'xds_cluster', type }] },
    })
  })

  test('the number of connections has a limit, which does not bind the admin interface', () => {
    const limited = (limit: number): object => ({
      overload_manager: {
        resource_monitors: [{ typed_config: { max_active_downstream_connections: limit } }],
      },
    })
    expect(bootstrap({ id: 'a', xds })).toMatchObject(limited(defaultMaxConnections))
    expect(bootstrap({ id: 'a', xds, admin: xds, maxConnections: 7 })).toMatchObject({
      ...limited(7),
      admin: { ignore_global_conn_limit: true },
    })
  })

  test('what it makes is plain JSON', () => {
    const made = bootstrap({ id: 'a', xds, admin: xds })
    expect(JSON.parse(JSON.stringify(made))).toEqual(made)
  })

  test('an IPv6 address is shown in brackets', () => {
    expect(showHostPort({ host: '::1', port: 1 })).toBe('[::1]:1')
    expect(showHostPort({ host: 'a.b', port: 1 })).toBe('a.b:1')
  })
})
