import { specSchema } from './crd/spec.js'
import { statusSchema } from './crd/status.js'
import type { Schema } from './crd/schema.js'
import { apiVersion, kind } from './edge-route.js'

export type { Rule, Schema } from './crd/schema.js'
export { type Unsaid, unsaid } from './crd/unsaid.js'

/** A CustomResourceDefinition of apiextensions.k8s.io/v1, as far as EdgeRoute needs it. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: ResourceNames
    readonly scope: 'Namespaced'
    readonly versions: ReadonlyArray<ResourceVersion>
  }
}

/** What its objects are called. */
export interface ResourceNames {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: ReadonlyArray<string>
}

/** One version of its objects. */
export interface ResourceVersion {
  readonly name: string
  readonly served: true
  readonly storage: true
  readonly schema: { readonly openAPIV3Schema: Schema }
  readonly subresources: { readonly status: Readonly<Record<string, never>> }
  readonly additionalPrinterColumns: ReadonlyArray<PrinterColumn>
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'date'
  readonly jsonPath: string
  readonly description: string
  /** Above 0 it is shown with `-o wide` only. */
  readonly priority?: number
}

/**
 * Makes the definition of EdgeRoute for a Kubernetes API server.
 *
 * Its schema takes and refuses the same specs as `decodeEdgeRoute`, save unknown fields, which an API server
 * drops, and what is in `unsaid`, where the codec is the stricter. A default says what the codec takes an
 * absent field for; there is none within the items of a list, where tools that compare what was applied
 * with what is there would take it for a change.
 */
export const edgeRouteDefinition = (): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: {
      plural,
      singular: 'edgeroute',
      kind,
      listKind: `${kind}List`,
      shortNames: ['er'],
    },
    scope: 'Namespaced',
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: objectSchema },
        subresources: { status: {} },
        additionalPrinterColumns: columns,
      },
    ],
  },
})

const plural = 'edgeroutes'
const [group = '', version = ''] = apiVersion.split('/')

const objectSchema: Schema = {
  description: 'Says which requests Envoys take, and where they send them.',
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: specSchema,
    status: statusSchema,
  },
}

const statusOf = (type: string, description: string): PrinterColumn => ({
  name: type,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
  description,
})

const columns: ReadonlyArray<PrinterColumn> = [
  {
    name: 'Hostnames',
    type: 'string',
    jsonPath: '.spec.hostnames',
    description: 'The hosts that it claims; every host if there are none.',
  },
  {
    // A column shows the first of what its path finds.
    name: 'Paths',
    type: 'string',
    jsonPath: '.spec.matches[*].path',
    description: 'The path of its first match; all of its matches stand under Matches.',
  },
  statusOf('Accepted', 'Whether it is valid, and no other route has what it claims.'),
  { ...statusOf('ResolvedRefs', 'Whether all of its backends are there.'), name: 'Resolved' },
  statusOf('Programmed', 'Whether every Envoy has confirmed it.'),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Its age.' },
  {
    // Last, since it is empty as a rule.
    name: 'Deleting',
    type: 'date',
    jsonPath: '.metadata.deletionTimestamp',
    description: 'How long it has been Terminating; empty if nobody deletes it.',
  },
  {
    name: 'Matches',
    type: 'string',
    jsonPath: '.spec.matches',
    description: 'The requests that it claims.',
    priority: 1,
  },
  {
    ...statusOf(
      'Deprogrammed',
      'Of an object that is being deleted: whether no Envoy serves it any more.',
    ),
    priority: 1,
  },
]
