import { digestParts } from './chunked-digest.js'
import { type Digest, digestStrings } from './digest.js'
import { treeSize, type WrittenTree, writeTree } from './encode-tree.js'
import { isWorthwhile, type Tree, treeOf, worthwhileSaving } from './matcher-tree.js'
import { isSameList } from './order.js'
import type { TableHost } from './resource.js'
import { routesSize, writeRoutes } from './splice.js'

/**
 * What is made of a virtual host once: it stays the same object as long as the host does.
 *
 * Where the host was made by a change of another one (`changedHost`), it is made of that one's form: then it costs
 * what the change touches, and is what it would be without.
 */
export interface HostForm {
  /** A digest of its settings, of its fragments, in their order, and of the form in which they are sent. */
  readonly version: Digest
  /** How many bytes its routes take. */
  readonly routesSize: number
  /** In what its routes are sent. */
  readonly tree: Tree | undefined
  /** The tree that they make, sent or not: the next one is made of it. */
  readonly possible: Tree | undefined
  /** Where this tree, or that of the host before, was written last: a memo of `writeHostRoutes`. */
  written: WrittenTree | undefined
}

/** The form of a host. Costs nothing for a host that is known. */
export const formOf = (host: TableHost): HostForm => {
  const known = forms.get(host)
  if (known !== undefined) return known
  const form = makeForm(host, undefined)
  forms.set(host, form)
  return form
}

const forms = new WeakMap<TableHost, HostForm>()

/** The same host with other fragments, in their order: the very same where they are the same. */
export const changedHost = (host: TableHost, fragments: TableHost['fragments']): TableHost => {
  if (isSameList(fragments, host.fragments)) return host
  const changed = { ...host, fragments }
  const before = forms.get(host)
  if (before?.possible !== undefined) forms.set(changed, makeForm(changed, before))
  return changed
}

/** Writes the routes of an encoded host, and returns where the next one goes. */
export const writeHostRoutes = (out: Uint8Array, at: number, host: TableHost): number => {
  const form = formOf(host)
  const { tree, written } = form
  if (tree === undefined) return writeRoutes(out, at, routesTag, host.fragments)
  const next = writeTree(out, at, tree, written)
  form.written = { tree, bytes: out.subarray(at, next) }
  return next
}

/** `VirtualHost.routes` is field 3, and a message. */
const routesTag = 0x1a

const makeForm = ({ head, fragments }: TableHost, before: HostForm | undefined): HostForm => {
  const possible =
    fragments.length < worthwhileSaving ? undefined : treeOf(fragments, before?.possible)
  const tree = possible !== undefined && isWorthwhile(possible) ? possible : undefined
  return {
    version: digestStrings(
      ...(tree === undefined ? [] : [treeForm]),
      Buffer.from(head).toString('hex'),
      ...digestParts(fragments),
    ),
    routesSize: tree === undefined ? routesSize(fragments) : treeSize(tree),
    tree,
    possible,
    written: tree === undefined ? undefined : before?.written,
  }
}

/** To be changed with the bytes that `encodeTree` makes of the same fragments. A list has no such name. */
const treeForm = 'tree 1'
