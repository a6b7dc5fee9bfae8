import { ApiVersion, type ConfigSource } from '../../gen/envoy/config/core/v3/config_source.js'

/** "Ask on the stream on which you were told to ask." */
export const adsSource: ConfigSource = {
  configSourceSpecifier: { $case: 'ads', value: {} },
  resourceApiVersion: ApiVersion.V3,
}
