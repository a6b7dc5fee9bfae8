import { apiVersion } from '../../../core/edge-route.js'
import { compareStrings } from '../../../core/order.js'
import { type Grouping, type JsonObject, objectIn, textIn } from '../reflector/index.js'

/** A kind of objects in namespaces. */
export interface Kind {
  /** From the root, as in `/apis/discovery.k8s.io/v1`. */
  readonly api: string
  /** As it stands in paths: `endpointslices`. */
  readonly plural: string
  /** How to keep only some of them; absent where all are kept. */
  readonly grouping?: Grouping
}

/** Where objects of a kind are: in one namespace, or in all. */
export const pathOf = (
  { api, plural }: Pick<Kind, 'api' | 'plural'>,
  namespace: string | undefined,
): string =>
  namespace === undefined
    ? `${api}/${plural}`
    : `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}`

/** The same in words, as in `edgeroutes in namespace shop`. */
export const showPlace = (
  { plural }: Pick<Kind, 'plural'>,
  namespace: string | undefined,
): string => (namespace === undefined ? plural : `${plural} in namespace ${namespace}`)

/** Each namespace once, in the order in which the names of their objects come. */
export const inNameOrder = (namespaces: Iterable<string>): ReadonlyArray<string> =>
  [...new Set(namespaces)].sort((a, b) => compareStrings(`${a}/`, `${b}/`))

export const edgeRoutes: Kind = { api: `/apis/${apiVersion}`, plural: 'edgeroutes' }

const core = '/api/v1'
const discovery = '/apis/discovery.k8s.io/v1'

/** A group is one Service: `namespace/name`. */
export const services: Kind = {
  api: core,
  plural: 'services',
  grouping: {
    groupOf: (object) => groupIn(object, textIn(objectIn(object, 'metadata'), 'name')),
    requestOf: (group) => {
      const [namespace, name] = split(group)
      const path = pathOf({ api: core, plural: 'services' }, namespace)
      return { path, query: { fieldSelector: `metadata.name=${name}` } }
    },
  },
}

/** The label of a slice that names its Service. */
const serviceLabel = 'kubernetes.io/service-name'

/** A group is the slices of one Service: its `namespace/name`. */
export const endpointSlices: Kind = {
  api: discovery,
  plural: 'endpointslices',
  grouping: {
    groupOf: (object) => {
      const labels = objectIn(objectIn(object, 'metadata'), 'labels')
      return groupIn(object, textIn(labels, serviceLabel))
    },
    requestOf: (group) => {
      const [namespace, name] = split(group)
      const path = pathOf({ api: discovery, plural: 'endpointslices' }, namespace)
      return { path, query: { labelSelector: `${serviceLabel}=${name}` } }
    },
  },
}

/** All of them that the label selector picks. */
export const pods: Kind = { api: core, plural: 'pods' }

const groupIn = (object: JsonObject, name: string | undefined): string | undefined => {
  const namespace = textIn(objectIn(object, 'metadata'), 'namespace')
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`
}

/** Neither namespaces nor names of Services have a slash in them. */
const split = (group: string): readonly [namespace: string, name: string] => {
  const slash = group.indexOf('/')
  return [group.slice(0, slash), group.slice(slash + 1)]
}
