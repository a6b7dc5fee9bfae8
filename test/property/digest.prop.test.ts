import { createHash } from 'node:crypto'
import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { digest, digestStrings } from '../../src/core/digest.js'

/** Short, and now and then so long that little or nothing else fits beside it in what digests are made in. */
const part = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 4070, max: 4100 }).map((length) => 'x'.repeat(length)),
  },
)

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** As the words say it. */
const expected = (parts: ReadonlyArray<string>): string => {
  const hash = createHash('sha256')
  for (const each of parts) hash.update(`${utf8(each).length}:`).update(utf8(each))
  return hash.digest('hex').slice(0, 32)
}

test.prop([fc.array(part, { maxLength: 4 })], { numRuns: 1_000 })(
  'a digest is one of the framed parts, be they text or bytes, however long',
  (parts) => {
    expect(digestStrings(...parts)).toBe(expected(parts))
    expect(digest(parts)).toBe(expected(parts))
    expect(digest(parts.map(utf8))).toBe(expected(parts))
  },
)
