/** An encoded Route in its two parts. */
export interface EncodedRoute {
  readonly match: Uint8Array
  readonly rest: Uint8Array
}

/** The size of these Routes as the entries of a repeated field. */
export const routesSize = (routes: ReadonlyArray<EncodedRoute>): number =>
  routes.reduce((sum, route) => sum + fieldSize(sizeOf(route)), 0)

/**
 * Writes Routes as the entries of a repeated field, and returns where the next one goes: protobuf lets them follow
 * in any place, so what is encoded once is copied and never read again.
 */
export const writeRoutes = (
  out: Uint8Array,
  at: number,
  tag: number,
  routes: ReadonlyArray<EncodedRoute>,
): number => {
  let next = at
  for (const route of routes) {
    next = writeTag(out, next, tag, sizeOf(route))
    out.set(route.match, next)
    out.set(route.rest, next + route.match.length)
    next += sizeOf(route)
  }
  return next
}

const sizeOf = ({ match, rest }: EncodedRoute): number => match.length + rest.length

/** The size of a field that is a message of this length. Its tag takes one byte, as all do here. */
export const fieldSize = (length: number): number => 1 + varintSize(length) + length

/** Begins a field that is a message of this length, and returns where that goes. */
export const writeTag = (out: Uint8Array, at: number, tag: number, length: number): number => {
  out[at] = tag
  let next = at + 1
  let rest = length
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) out[next++] = (rest % 0x80) | 0x80
  out[next++] = rest
  return next
}

/** Writes bytes, and returns where the next go. */
export const writePiece = (out: Uint8Array, at: number, piece: Uint8Array): number => {
  out.set(piece, at)
  return at + piece.length
}

const varintSize = (value: number): number => {
  let bytes = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes += 1
  return bytes
}
