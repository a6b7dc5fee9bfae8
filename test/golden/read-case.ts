import { parseAllDocuments } from 'yaml'
import {
  type Context,
  type DataPlane,
  defaultContext,
  type EndpointSlice,
  type Service,
} from '../../src/core/context.js'
import type { EdgeRoute, Metadata, RouteKey } from '../../src/core/edge-route.js'

/** Of the metadata, a case gives what matters to it. */
interface Written extends Pick<EdgeRoute, 'spec'> {
  readonly metadata: RouteKey & Partial<Metadata>
}

/** One document of a case; each kind has only what translation looks at. */
type Document =
  | ({ readonly kind: 'EdgeRoute' } & Written)
  | ({ readonly kind: 'DataPlane'; readonly name: string } & DataPlane)
  | ({ readonly kind: 'Service' } & Service)
  | ({ readonly kind: 'EndpointSlice' } & EndpointSlice)

/** Reads the objects of a case. Routes are taken as they stand: their verdicts say what is wrong. */
export const readCase = (text: string): readonly [ReadonlyArray<EdgeRoute>, Context] => {
  const documents = parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'))
    return document.toJS() as Document
  })
  const dataPlanes = documents.flatMap((one) => {
    if (one.kind !== 'DataPlane') return []
    const { name, listeners, addresses, shards, form } = one
    const given = {
      ...(addresses && { addresses }),
      ...(shards !== undefined && { shards }),
      ...(form && { form }),
    }
    return [[name, { listeners, ...given }] as const]
  })
  const context = {
    dataPlanes: dataPlanes.length === 0 ? defaultContext.dataPlanes : new Map(dataPlanes),
    services: documents.filter((one) => one.kind === 'Service'),
    endpointSlices: documents.filter((one) => one.kind === 'EndpointSlice'),
  }
  return [documents.filter((one) => one.kind === 'EdgeRoute').map(routeOf), context]
}

const routeOf = ({ metadata, spec }: Written): EdgeRoute => {
  const uid = `${metadata.namespace}/${metadata.name}`
  return { metadata: { uid, generation: 1, finalizers: [], ...metadata }, spec }
}
