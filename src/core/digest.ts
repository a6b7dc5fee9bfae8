import { createHash } from 'node:crypto'

/** A content digest: equal content has equal digests in every process, and after every restart. */
export type Digest = string

/**
 * The digest of a sequence of parts, 32 hexadecimal digits (128 bits of SHA-256).
 *
 * Each part is framed by its length, so that no two sequences of parts share their bytes. 128 bits
 * because tenants choose content: 64 bits can be made to collide on purpose.
 */
export const digest = (parts: Iterable<string | Uint8Array>): Digest => {
  const hash = createHash('sha256')
  for (const part of parts) {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part
    hash.update(`${bytes.length}:`).update(bytes)
  }
  return hash.digest('hex').slice(0, 32)
}

const encoder = new TextEncoder()
