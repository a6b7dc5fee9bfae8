import { HttpRequestHeaderMatchInput } from '../gen/envoy/type/matcher/v3/http_inputs.js'
import { Matcher_MatcherTree } from '../gen/xds/type/matcher/v3/matcher.js'
import { type Branch, emptyTree, listOf, type Tree } from './matcher-tree.js'
import { fieldSize, writePiece, writeTag } from './splice.js'
import { writeEntry } from './tree-entry.js'

/** A tree, and its bytes: where it was written once. */
export interface WrittenTree {
  readonly tree: Tree
  readonly bytes: Uint8Array
}

/**
 * The encoded VirtualHost that has this tree and nothing else: `matcher`, with an `xds.type.matcher.v3.Matcher`
 * that looks up `:path` in a map of prefixes.
 */
export const encodeTree = (tree: Tree): Uint8Array => {
  const out = new Uint8Array(treeSize(tree))
  writeTree(out, 0, tree)
  return out
}

/** How many bytes `encodeTree` makes. Costs a look at each branch. */
export const treeSize = (tree: Tree): number => 1 + fieldSize(matcherSize(mapSize(tree)))

/**
 * Writes what `encodeTree` makes, and returns where the next goes. Spliced, as tables are: a generated codec copies
 * what stands seven levels deep seven times. Branches that `before` has, too, are copied from there, in runs.
 */
export const writeTree = (
  out: Uint8Array,
  from: number,
  tree: Tree,
  before?: WrittenTree,
): number => {
  const map = mapSize(tree)
  out[from] = matcherTag.first
  let at = writeTag(out, from + 1, matcherTag.second, matcherSize(map))
  at = writeTag(out, at, matcherTreeTag, matcherTreeSize(map))
  at = writePiece(out, at, pathInput)
  at = writeTag(out, at, prefixMatchMapTag, map)
  return writeBranches(out, at, tree, before ?? { tree: emptyTree, bytes: nothing })
}

const nothing = new Uint8Array()

const mapSize = ({ branches }: Tree): number => branches.reduce((sum, { size }) => sum + size, 0)

const matcherTreeSize = (map: number): number => pathInput.length + fieldSize(map)

const matcherSize = (map: number): number => fieldSize(matcherTreeSize(map))

const writeBranches = (
  out: Uint8Array,
  from: number,
  { branches }: Tree,
  { tree, bytes }: WrittenTree,
): number => {
  const old = tree.branches
  let at = from
  let next = 0
  /** What is to be copied: the run of old branches that ends before `next`. */
  let runFrom = bytes.length - mapSize(tree)
  let runTo = runFrom
  const copyRun = (): void => {
    if (runFrom < runTo) at = writePiece(out, at, bytes.subarray(runFrom, runTo))
    runFrom = runTo
  }
  for (const branch of branches) {
    if (old[next] !== branch) {
      copyRun()
      for (let passed = old[next]; isBefore(passed, branch); passed = old[next]) {
        runTo += passed.size
        next += 1
      }
      runFrom = runTo
    }
    if (old[next] === branch) {
      runTo += branch.size
      next += 1
    } else at = writeBranch(out, at, branch)
  }
  copyRun()
  return at
}

const writeBranch = (out: Uint8Array, at: number, branch: Branch): number =>
  writeEntry(out, at, branch.place.key, listOf(branch), branch.listBytes)

const isBefore = (old: Branch | undefined, { place }: Branch): old is Branch =>
  old !== undefined && old.place.key < place.key

/** `VirtualHost.matcher` is field 21, whose tag takes two bytes. */
const matcherTag = { first: 0xaa, second: 0x01 }
/** `Matcher.matcher_tree` is field 2, `MatcherTree.prefix_match_map` field 3. */
const matcherTreeTag = 0x12
const prefixMatchMapTag = 0x1a

/** The path as Envoy has normalised it, with the query. */
const pathInput = Matcher_MatcherTree.encode({
  input: {
    name: 'path',
    typedConfig: {
      typeUrl: `type.googleapis.com/${HttpRequestHeaderMatchInput.$type}`,
      value: HttpRequestHeaderMatchInput.encode({ headerName: ':path' }).finish(),
    },
  },
}).finish()
