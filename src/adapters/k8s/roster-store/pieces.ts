import { digestStrings } from '../../../core/digest.js'

/** How a text is cut into pieces. */
export interface PieceSizes {
  /** How long a piece is on average, in bytes of UTF-8. */
  readonly meanBytes: number
  /** How long it is at most, in bytes of UTF-8. */
  readonly maxBytes: number
}

/**
 * A change rewrites the piece that it is in: 128 KiB are some 800 Envoys, and written in ten milliseconds. An object
 * may have 1 MiB, and a request 3 MiB with every quote escaped.
 */
export const pieceSizes: PieceSizes = { meanBytes: 128 * 1024, maxBytes: 512 * 1024 }

/**
 * Cuts a text into pieces, at the ends of lines where these are not too long.
 *
 * Guarantees: put together they are the text; none is empty or longer than `maxBytes`. Whether a piece ends with a line
 * depends on that line alone, by chance, so that where a line is changed, added or taken out, the pieces are others
 * around it only: the average piece and its neighbour.
 *
 * Costs one digest of every line.
 */
export const cutText = (text: string, sizes: PieceSizes = pieceSizes): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let piece: Array<string> = []
  let bytes = 0
  const end = (): void => {
    if (piece.length > 0) pieces.push(piece.join(''))
    piece = []
    bytes = 0
  }
  for (const line of linesOf(text)) {
    const lineBytes = Buffer.byteLength(line)
    if (bytes + lineBytes > sizes.maxBytes) end()
    if (lineBytes > sizes.maxBytes) {
      pieces.push(...slices(line, sizes.maxBytes))
      continue
    }
    piece.push(line)
    bytes += lineBytes
    if (chanceOf(line) < lineBytes / sizes.meanBytes) end()
  }
  end()
  return pieces
}

/** With the line breaks at their ends. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const lineBreak = text.indexOf('\n', from)
    const to = lineBreak === -1 ? text.length : lineBreak + 1
    yield text.slice(from, to)
    from = to
  }
}

/** A number in [0, 1) that a line always has. */
const chanceOf = (line: string): number =>
  Number.parseInt(digestStrings(line).slice(0, 8), 16) / 2 ** 32

/** No UTF-16 code unit takes more bytes of UTF-8 than this. */
const maxUnitBytes = 3

/** Never cut between the halves of a character. */
const slices = (line: string, maxBytes: number): ReadonlyArray<string> => {
  const units = Math.max(2, Math.floor(maxBytes / maxUnitBytes))
  const found: Array<string> = []
  for (let from = 0; from < line.length;) {
    const full = line.slice(from, from + units)
    const isSplit = from + units < line.length && /[\uD800-\uDBFF]$/.test(full)
    const slice = isSplit ? full.slice(0, -1) : full
    found.push(slice)
    from += slice.length
  }
  return found
}
