import { pathOf } from '../informers/index.js'
import { type JsonObject, objectIn, textIn } from '../reflector/index.js'

/** Where an object is. */
export interface Place {
  /** The path of all of its kind in its namespace. */
  readonly collection: string
  readonly name: string
  /** For people, as in `the ConfigMap edge/roster`. */
  readonly shown: string
}

export const configMapAt = (namespace: string, name: string): Place => ({
  collection: pathOf({ api: '/api/v1', plural: 'configmaps' }, namespace),
  name,
  shown: `the ConfigMap ${namespace}/${name}`,
})

/** Of one namespace, or of all. */
export const leasesIn = (namespace: string | undefined): string =>
  pathOf({ api: '/apis/coordination.k8s.io/v1', plural: 'leases' }, namespace)

export const leaseAt = (namespace: string, name: string): Place => ({
  collection: leasesIn(namespace),
  name,
  shown: `the Lease ${namespace}/${name}`,
})

/** The path of the object itself. */
export const pathTo = ({ collection, name }: Pick<Place, 'collection' | 'name'>): string =>
  `${collection}/${encodeURIComponent(name)}`

/** Which state of an object this is; empty if it does not say. */
export const versionOf = (object: JsonObject): string =>
  textIn(objectIn(object, 'metadata'), 'resourceVersion') ?? ''
