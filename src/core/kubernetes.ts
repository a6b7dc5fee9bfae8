/**
 * Reads the Kubernetes objects that routes send to, of the JSON that an API server or a file has of them.
 *
 * Each decoder is total: on the left is all that is wrong, and nothing is thrown, whatever JSON or YAML parses
 * to. Fields that routing does not need are ignored, as are ports that are not TCP. A null is an absent
 * field. `kind` and `apiVersion` may be absent, as they are in the lists of an API server.
 */
export { decodeEndpointSlice, endpointSliceKind } from './kubernetes/endpoint-slice.js'
export { decodeService, serviceKind } from './kubernetes/service.js'
export type { ObjectKind } from './kubernetes/object.js'
