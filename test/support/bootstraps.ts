import type { TestEnvoyOptions } from './envoy.js'

const resolverConfig =
  'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig'

/** A bootstrap whose DNS asks nobody but this port of 127.0.0.1. */
export const withResolver =
  (port: number): NonNullable<TestEnvoyOptions['change']> =>
  (made) => ({
    ...made,
    typed_dns_resolver_config: {
      name: 'envoy.network.dns_resolver.cares',
      typed_config: {
        '@type': resolverConfig,
        resolvers: [{ socket_address: { address: '127.0.0.1', port_value: port } }],
        dns_resolver_options: { no_default_search_domain: true },
      },
    },
  })

/** A bootstrap of an Envoy that refuses regular expressions whose program is longer. */
export const withRegexLimit =
  (programSize: number): NonNullable<TestEnvoyOptions['change']> =>
  (made) => ({
    ...made,
    layered_runtime: {
      layers: [
        {
          name: 'limits',
          static_layer: { re2: { max_program_size: { error_level: programSize } } },
        },
      ],
    },
  })
