import { Route } from '../../gen/envoy/config/route/v3/route_components.js'
import { digest } from '../digest.js'
import type { Fragment } from '../resource.js'

/** The fragment with its claim, answered with 503 by the Envoy itself. */
export const unavailable = (fragment: Fragment): Fragment => ({
  ...fragment,
  rest,
  version: digest([fragment.match, rest]),
  clusters: [],
})

/** True of what `unavailable` makes. */
export const isUnavailable = (fragment: Fragment): boolean => fragment.rest === rest

const rest: Uint8Array = Route.encode({
  name: 'unavailable',
  action: { $case: 'directResponse', value: { status: 503 } },
}).finish()
