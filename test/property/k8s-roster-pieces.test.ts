import { fc, test } from '@fast-check/vitest'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect } from 'vitest'
import { dataOfHead, headIn, layOut, textOf } from '../../src/adapters/k8s/roster-store/head.js'
import { cutText, type PieceSizes } from '../../src/adapters/k8s/roster-store/pieces.js'

const sizes: PieceSizes = { meanBytes: 60, maxBytes: 200 }

const lines = (maxLength: number): fc.Arbitrary<ReadonlyArray<string>> =>
  fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.string({ maxLength: 40 }) },
      {
        weight: 1,
        arbitrary: fc.string({
          minLength: 70,
          maxLength: 300,
          unit: fc.constantFrom('a', 'é', '\u{1f6f0}'),
        }),
      },
    ),
    { maxLength },
  )

const textIn = (given: ReadonlyArray<string>): string => given.join('\n')

describe('a text that is cut into pieces', () => {
  test.prop([lines(60)])('is what these are when they are put together', (given) => {
    const text = textIn(given)
    const pieces = cutText(text, sizes)
    expect(pieces.join('')).toBe(text)
    for (const piece of pieces) {
      expect(piece).not.toBe('')
      expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(sizes.maxBytes)
      // A half of a character would not outlive the way to the server.
      expect(Buffer.from(piece).toString()).toBe(piece)
    }
  })

  /** No line of it is as long as a piece, so that pieces end at lines by chance alone, save where they are full. */
  const entries = fc.array(fc.nat().map(String), { minLength: 200, maxLength: 300 })

  test.prop([entries, fc.nat(), fc.string({ maxLength: 40 })])(
    'has other pieces only around the line that was changed',
    (given, place, line) => {
      const changed = given.with(place % given.length, line)
      const before = new Set(cutText(textIn(given), sizes))
      const other = cutText(textIn(changed), sizes).filter((piece) => !before.has(piece))
      expect(other.length).toBeLessThanOrEqual(6)
    },
  )

  test.prop([fc.infiniteStream(fc.string({ minLength: 5, maxLength: 15 }))], { numRuns: 20 })(
    'has pieces of the wanted size on average',
    (words) => {
      const given = [...words.take(3_000)].map((word, i) => `${i}${word}`)
      const text = textIn(given)
      const mean = Buffer.byteLength(text) / cutText(text, sizes).length
      expect(mean).toBeGreaterThan(sizes.meanBytes / 2)
      expect(mean).toBeLessThan(sizes.meanBytes * 2)
    },
  )
})

test.prop([lines(40), fc.integer({ min: 0, max: 1 })])(
  'what is laid out is found again, by way of the data of ConfigMaps',
  (given, large) => {
    const text = textIn(given) + `${'x'.repeat(999)}\n`.repeat(large * 200)
    const { head, pieces } = layOut(text, (digest) => `part-${digest}`)
    expect(head._tag).toBe(large === 0 ? 'Whole' : 'Parts')
    const found = headIn({ data: dataOfHead(head) })
    expect(found).toEqual(E.right(head))
    const byName = new Map([...pieces].map(([digest, piece]) => [`part-${digest}`, piece]))
    expect(textOf(head, byName)).toEqual(E.right(text))
  },
)
