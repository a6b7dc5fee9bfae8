import { checkDnsLabel, checkObjectName } from '../codec/check/names.js'
import { text } from '../codec/leaves.js'
import { type Codec, leaf } from '../codec/record.js'
import { show } from '../codec/show.js'
import { defaultNamespace, type RouteKey } from '../edge-route.js'

/** A kind of objects, as it stands in one of them. */
export interface ObjectKind {
  readonly apiVersion: string
  readonly kind: string
}

/** The fields of an object that say what it is: right, or not there. */
export const kindFields = ({
  apiVersion,
  kind,
}: ObjectKind): { readonly apiVersion: Codec<string>; readonly kind: Codec<string> } => ({
  apiVersion: only(apiVersion),
  kind: only(kind),
})

const only = (right: string): Codec<string> =>
  text((value) => (value === right ? undefined : `must be ${show(right)}, not ${show(value)}`))

export const objectName: Codec<string> = text(checkObjectName)
export const objectNamespace: Codec<string> = text(checkDnsLabel)

export const keyOf = ({
  namespace = defaultNamespace,
  name,
}: {
  readonly namespace?: string
  readonly name: string
}): RouteKey => ({ namespace, name })

/** A string as it comes: what an API server has checked, or nobody needs to. */
export const anyText: Codec<string> = text(() => undefined)

export const truth: Codec<boolean> = leaf('true or false', (value) => typeof value === 'boolean')

/** False of a port that says that it is of UDP or SCTP: HTTP does not come there. */
export const isTcp = ({ protocol = 'TCP' }: { readonly protocol?: string }): boolean =>
  protocol === 'TCP'
