import { isDeepStrictEqual } from 'node:util'
import type { EndpointSlice, Service } from '../../core/context.js'
import {
  type EdgeRoute,
  type EdgeRouteSpec,
  type RouteKey,
  showKey,
} from '../../core/edge-route.js'
import type { SourceBackends } from '../../ports/route-source.js'
import type { Winners } from './resolve.js'

/** An object as it is served. */
export type Form =
  | { readonly _tag: 'EdgeRoute'; readonly route: EdgeRoute }
  | { readonly _tag: 'Service'; readonly service: Service }
  | { readonly _tag: 'EndpointSlice'; readonly slice: EndpointSlice }

/** By name. */
export type Forms = ReadonlyMap<string, Form>

/** What the winners are; the same objects as before where these are equal. */
export const formsOf = (winners: Winners, before: Forms): Forms =>
  new Map(
    [...winners].map(
      ([
        name,
        {
          entry: { key, content },
        },
      ]) => {
        const known = before.get(name)
        if (content._tag !== 'EdgeRoute')
          return [name, known !== undefined && isDeepStrictEqual(known, content) ? known : content]
        const last = known?._tag === 'EdgeRoute' ? known : undefined
        const route = routeOf(key, content.spec, last?.route)
        return [name, last?.route === route ? last : { _tag: 'EdgeRoute', route }]
      },
    ),
  )

export const routesIn = (forms: Forms): ReadonlyArray<EdgeRoute> =>
  [...forms.values()].flatMap((form) => (form._tag === 'EdgeRoute' ? [form.route] : []))

export const backendsIn = (forms: Forms): SourceBackends => {
  const all = [...forms.values()]
  return {
    services: all.flatMap((form) => (form._tag === 'Service' ? [form.service] : [])),
    endpointSlices: all.flatMap((form) => (form._tag === 'EndpointSlice' ? [form.slice] : [])),
  }
}

/** True if there is something that routes send to. */
export const hasBackends = (forms: Forms): boolean =>
  [...forms.values()].some(({ _tag }) => _tag !== 'EdgeRoute')

/**
 * The route of a name that has this spec.
 *
 * It is the very object that it was before unless the spec has changed, so that whoever remembers
 * things of it can compare references. Its generation counts these changes, from 1. It has no age,
 * and its uid is its name: it stays the same object when it moves to another file.
 */
const routeOf = (key: RouteKey, spec: EdgeRouteSpec, before: EdgeRoute | undefined): EdgeRoute => {
  if (before !== undefined && isDeepStrictEqual(before.spec, spec)) return before
  const generation = (before?.metadata.generation ?? 0) + 1
  const { namespace, name } = key
  const uid = `file:${showKey(key)}`
  return { metadata: { namespace, name, uid, generation, finalizers: [] }, spec }
}
