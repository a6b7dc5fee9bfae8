import { createHash, hash } from 'node:crypto'

/** A content digest: equal content has equal digests in every process, and after every restart. */
export type Digest = string

/**
 * The digest of a sequence of parts, 32 hexadecimal digits (128 bits of SHA-256).
 *
 * Each part is framed by its length in bytes, so that no two sequences of parts share their bytes. 128 bits
 * because tenants choose content: 64 bits can be made to collide on purpose.
 */
export const digest = (parts: ReadonlyArray<string | Uint8Array>): Digest => {
  let at = 0
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    const head = `${bytes.length}:`
    if (at + head.length + bytes.length > scratch.length) return digestAtLength(parts)
    at += scratch.write(head, at, 'latin1')
    scratch.set(bytes, at)
    at += bytes.length
  }
  return cut(hash('sha256', scratch.subarray(0, at)))
}

/** `digest` of what is too long for the scratch. */
const digestAtLength = (parts: ReadonlyArray<string | Uint8Array>): Digest => {
  const state = createHash('sha256')
  for (const part of parts) {
    if (typeof part === 'string') state.update(frame(part))
    else state.update(`${part.length}:`).update(part)
  }
  return cut(state.digest('hex'))
}

/** `digest` of strings alone, several times as fast for short ones. */
export const digestStrings = (...parts: ReadonlyArray<string>): Digest =>
  cut(hash('sha256', parts.map(frame).join('')))

const digestLength = 32

/** Written and read within a call, so that short parts need no memory of their own. */
const scratch = Buffer.allocUnsafeSlow(4096)

/** The first digits, in a string of their own: V8 would keep the whole text for the sake of a slice. */
const cut = (digits: string): Digest => {
  scratch.write(digits, 0, digestLength, 'latin1')
  return scratch.toString('latin1', 0, digestLength)
}

const frame = (part: string): string => `${Buffer.byteLength(part)}:${part}`
