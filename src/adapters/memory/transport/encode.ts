import { type Content, encodeContent, type Resource } from '../../../core/resource.js'
import type { Response, Variant } from '../../../core/xds/messages.js'
import type { ReceivedResource, ReceivedResponse } from '../envoy/client/messages.js'
import { memoize } from '../envoy/memo.js'

/** Turns a response into what a client sees of it: names, versions and bytes. */
export const encodeResponse = (variant: Variant, response: Response): ReceivedResponse => ({
  typeUrl: response.typeUrl,
  nonce: response.nonce,
  version: response.version,
  resources: response.resources.map((resource) => encodeResource(variant, response, resource)),
  removed: response.removed,
})

/** The state of the world knows one version, that of the response. */
const encodeResource = (
  variant: Variant,
  { typeUrl, version }: Response,
  resource: Resource,
): ReceivedResource => ({
  name: resource.name,
  version: variant === 'sotw' ? version : resource.version,
  typeUrl,
  bytes: encodeOnce(resource.content),
})

/** All clients share the bytes of one content, as they do behind a real server. */
const encodeOnce = memoize((content: Content) => encodeContent(content))
