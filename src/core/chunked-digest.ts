import { type Digest, digest } from './digest.js'

/** What is told apart by a digest. */
interface Versioned {
  readonly version: Digest
}

/**
 * What of a list goes into a digest: the versions of a short one; of a long one what `chunkDigests` makes of them, and
 * a word that says so.
 */
export const digestParts = (items: ReadonlyArray<Versioned>): ReadonlyArray<string> =>
  items.length <= maxPlain
    ? items.map(({ version }) => version)
    : ['in chunks', ...chunkDigests(items)]

/** So many versions cost about as much in one digest as they do in chunks. */
const maxPlain = 128

/**
 * Digests that say together what the versions of a list are, in their order: one for some 64 of them.
 *
 * A chunk ends where a version says so, hence what it is depends on the list alone, and a change touches the
 * chunk that it is in, or two. The digest of a chunk is kept with its last item, which must not change. Costs a
 * look at each item, and a digest of each chunk that is another than when its last item was last seen here.
 */
export const chunkDigests = (items: ReadonlyArray<Versioned>): ReadonlyArray<Digest> => {
  const digests: Array<Digest> = []
  let from = 0
  for (const [index, item] of items.entries()) {
    const isLast = index === items.length - 1
    if (!isLast && item.version >= firstThatGoesOn) continue
    digests.push(digestOf(item, items, from, index + 1))
    from = index + 1
  }
  return digests
}

/** Of digests, which begin with two hexadecimal digits, 1 in 64 is less. */
const firstThatGoesOn = '04'

const digestOf = (
  last: Versioned,
  items: ReadonlyArray<Versioned>,
  from: number,
  to: number,
): Digest => {
  const known = chunks.get(last)
  if (known !== undefined && isAt(known.items, items, from, to)) return known.digest
  const own = items.slice(from, to)
  const made = digest(own.map(({ version }) => version))
  chunks.set(last, { items: own, digest: made })
  return made
}

interface Chunk {
  readonly items: ReadonlyArray<Versioned>
  readonly digest: Digest
}

const chunks = new WeakMap<Versioned, Chunk>()

const isAt = (
  chunk: ReadonlyArray<Versioned>,
  items: ReadonlyArray<Versioned>,
  from: number,
  to: number,
): boolean =>
  chunk.length === to - from && chunk.every((item, index) => item === items[from + index])
