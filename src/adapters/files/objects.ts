import type { EndpointSlice, Service } from '../../core/context.js'
import { type EdgeRouteSpec, kind, type RouteKey, showKey } from '../../core/edge-route.js'

/** What an object in a file says, apart from its name. */
export type FileContent =
  | { readonly _tag: 'EdgeRoute'; readonly spec: EdgeRouteSpec }
  | { readonly _tag: 'Service'; readonly service: Service }
  | { readonly _tag: 'EndpointSlice'; readonly slice: EndpointSlice }

/** The kinds of objects that files may have. */
export type FileKind = FileContent['_tag']

export const fileKinds: ReadonlyArray<FileKind> = [kind, 'Service', 'EndpointSlice']

/**
 * The name of an object among all objects of a directory, for people too: `shop/checkout` of a route, and
 * with its kind before it of any other.
 */
export const nameOf = (of: FileKind, key: RouteKey): string =>
  of === kind ? showKey(key) : `${of} ${showKey(key)}`
