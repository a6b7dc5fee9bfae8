/** The Pod of an Envoy. */
export interface PodRef {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/**
 * Reads the node id of an Envoy in a Pod, `NAMESPACE/POD/UID`; `undefined` where it is another one, so that nothing
 * can be said of it by looking at Pods.
 *
 * Only a UID as API servers give them is taken (RFC 9562, in lower case). What the downward API calls the UID of a
 * static Pod is none: that Pod runs whether the API server has an object for it or not.
 */
export const podOf = (nodeId: string): PodRef | undefined => {
  const [namespace = '', name = '', uid = '', ...rest] = nodeId.split('/')
  return rest.length === 0 && isLabel(namespace) && isSubdomain(name) && uidForm.test(uid)
    ? { namespace, name, uid }
    : undefined
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const labelForm = new RegExp(`^${label}$`)
const subdomainForm = new RegExp(`^${label}(\\.${label})*$`)
const uidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** RFC 1123, as Kubernetes takes names. */
const isLabel = (text: string): boolean => text.length <= 63 && labelForm.test(text)

const isSubdomain = (text: string): boolean => text.length <= 253 && subdomainForm.test(text)
