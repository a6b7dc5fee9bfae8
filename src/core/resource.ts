import { RouteConfiguration } from '../gen/envoy/config/route/v3/route.js'
import { VirtualHost } from '../gen/envoy/config/route/v3/route_components.js'
import { digestParts } from './chunked-digest.js'
import { type Digest, digest, digestStrings } from './digest.js'
import { encoded } from './encoded.js'
import { formOf, writeHostRoutes } from './host-form.js'
import { compareStrings } from './order.js'
import type { RulePath } from './rule.js'
import { fieldSize, writePiece, writeTag } from './splice.js'
import { clusterType, type TypeUrl } from './type-url.js'

/** The uid of an object that stands in a resource. */
export type Uid = string

/** A resource that another one refers to by name. */
export interface Ref {
  readonly typeUrl: TypeUrl
  readonly name: string
}

/**
 * One named piece of configuration, as a client holds it.
 *
 * `version` is a digest of `name` and content and of nothing else, so that equal versions mean equal
 * bytes on every replica and after every restart. `owners` and `refs` are sorted and without
 * repetition; they say what stands in the resource and what it needs, and are not part of its content.
 */
export interface Resource {
  readonly name: string
  readonly version: Digest
  readonly content: Content
  /** What must be in the client before this resource works. */
  readonly refs: ReadonlyArray<Ref>
  /** The objects of which something stands in this resource. */
  readonly owners: ReadonlyArray<Uid>
}

/** The order of the references of a resource. */
export const compareRefs = (a: Ref, b: Ref): -1 | 0 | 1 =>
  compareStrings(a.typeUrl, b.typeUrl) || compareStrings(a.name, b.name)

/** True if the same objects stand in both, each in the same places. */
export const haveSameOwners = (a: Resource, b: Resource): boolean =>
  areEqual(a.owners, b.owners) && areEqual(fragmentOwners(a.content), fragmentOwners(b.content))

const fragmentOwners = (content: Content): ReadonlyArray<Uid> =>
  content._tag === 'Bytes'
    ? []
    : content.table.virtualHosts.flatMap(({ fragments }) => fragments.map(({ owner }) => owner))

const areEqual = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])

/** Encoded bytes, or a route table in the pieces that it is spliced from. */
export type Content =
  | { readonly _tag: 'Bytes'; readonly bytes: Uint8Array }
  | { readonly _tag: 'Table'; readonly table: RouteTable }

/** A RouteConfiguration in pieces: its own settings, and per virtual host the encoded routes. */
export interface RouteTable {
  /** The encoded RouteConfiguration without its virtual hosts. */
  readonly head: Uint8Array
  /** In the order of their names. */
  readonly virtualHosts: ReadonlyArray<TableHost>
}

export interface TableHost {
  readonly name: string
  /** The encoded VirtualHost without its routes. */
  readonly head: Uint8Array
  /** In order of precedence: Envoy takes the first that matches. */
  readonly fragments: ReadonlyArray<Fragment>
}

/** One encoded Route of a table. */
export interface Fragment {
  readonly owner: Uid
  /** The name of the virtual host in which it stands. */
  readonly virtualHost: string
  /** A digest of the claim that it serves: with the owner it tells the fragment from all others. */
  readonly claim: Digest
  /** Its place in that host: fragments stand in the order of their keys, by code units. */
  readonly sortKey: string
  /** The path that it claims, which `match` says too: without decoding it tells where in a tree it stands. */
  readonly path: RulePath
  /** The encoded Route's `match`: with another rest behind it, it claims the same requests. */
  readonly match: Uint8Array
  /** The encoded Route's other fields; the fragments of one object share them where they are the same. */
  readonly rest: Uint8Array
  /** A digest of both. */
  readonly version: Digest
  /** The clusters that it sends traffic to. */
  readonly clusters: ReadonlyArray<string>
}

/** Makes a resource of encoded bytes. */
export const bytesResource = (
  name: string,
  bytes: Uint8Array,
  refs: Iterable<Ref> = [],
  owners: Iterable<Uid> = [],
): Resource => ({
  name,
  version: digest([name, bytes]),
  content: { _tag: 'Bytes', bytes },
  refs: sortedRefs(refs),
  owners: sortedStrings(owners),
})

/**
 * Makes a resource of a route table. Its version is a digest of the heads and of the versions of the
 * fragments: what stays the same is not read again.
 */
export const tableResource = (name: string, table: RouteTable): Resource => {
  const fragments = table.virtualHosts.flatMap((host) => host.fragments)
  const clusters = new Set(fragments.flatMap((fragment) => fragment.clusters))
  return tableResourceOf(name, table, {
    refs: clusterRefs([...clusters].sort(compareStrings)),
    owners: sortedStrings(fragments.map((fragment) => fragment.owner)),
  })
}

/** `tableResource` for who knows already what stands in the table. Costs O(hosts). */
export const tableResourceOf = (
  name: string,
  table: RouteTable,
  { refs, owners }: Pick<Resource, 'refs' | 'owners'>,
): Resource => ({
  name,
  version: digestStrings(name, hexOf(table.head), ...digestParts(table.virtualHosts.map(formOf))),
  content: { _tag: 'Table', table },
  refs,
  owners,
})

/** The references of a table to these clusters, which are sorted. */
export const clusterRefs = (names: ReadonlyArray<string>): ReadonlyArray<Ref> =>
  names.map((name) => ({ typeUrl: clusterType, name }))

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The encoded message of a resource: what stands in the `value` of its `google.protobuf.Any`. */
export const encodeContent = (content: Content): Uint8Array => {
  switch (content._tag) {
    case 'Bytes':
      return content.bytes
    case 'Table':
      return encodeTable(content.table)
  }
}

/** Makes the head of a table: every field but the virtual hosts. */
export const tableHead = (table: Omit<RouteConfiguration, 'virtualHosts'>): Uint8Array =>
  encoded(RouteConfiguration, table)

/** Makes the head of a virtual host: every field but the routes. */
export const hostHead = (host: Omit<VirtualHost, 'routes'>): Uint8Array =>
  encoded(VirtualHost, host)

/** `RouteConfiguration.virtual_hosts` is field 2, and a message. */
const virtualHostsTag = 0x12

const encodeTable = ({ head, virtualHosts }: RouteTable): Uint8Array => {
  const sizes = virtualHosts.map((host) => host.head.length + formOf(host).routesSize)
  const total = sizes.reduce((sum, bytes) => sum + fieldSize(bytes), head.length)
  const out = new Uint8Array(total)
  let at = writePiece(out, 0, head)
  virtualHosts.forEach((host, index) => {
    at = writeTag(out, at, virtualHostsTag, sizes[index] ?? 0)
    at = writePiece(out, at, host.head)
    at = writeHostRoutes(out, at, host)
  })
  return out
}

/** Without repetition. */
export const sortedStrings = (values: Iterable<string>): ReadonlyArray<string> =>
  [...new Set(values)].sort(compareStrings)

const sortedRefs = (refs: Iterable<Ref>): ReadonlyArray<Ref> => [...refs].sort(compareRefs)
