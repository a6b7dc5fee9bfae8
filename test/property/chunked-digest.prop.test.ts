import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { chunkDigests } from '../../src/core/chunked-digest.js'
import { digestStrings } from '../../src/core/digest.js'

const runs = { numRuns: 1000 }

const item = (n: number): { readonly version: string } => ({ version: digestStrings(String(n)) })

const items = Array.from({ length: 400 }, (_, n) => item(n))

const lists = fc.array(fc.subarray(items), { minLength: 2, maxLength: 6 })

describe('digests of chunks', () => {
  test.prop([lists], runs)('follow from the list alone, whatever was seen before', (all) => {
    for (const list of all)
      expect(chunkDigests(list)).toEqual(chunkDigests(list.map((each) => ({ ...each }))))
  })

  test.prop([lists], runs)('are equal for equal lists alone', (all) => {
    const seen = new Map<string, string>()
    for (const list of all) {
      const content = list.map(({ version }) => version).join()
      const digests = chunkDigests(list).join()
      expect(seen.get(digests) ?? content).toBe(content)
      seen.set(digests, content)
    }
  })

  test('are made of any list, however few of its versions end a chunk', () => {
    const endless = items.find(({ version }) => version >= '10') ?? item(0)
    const list = Array.from({ length: 200_000 }, () => ({ ...endless }))
    expect(chunkDigests(list)).toHaveLength(1)
  })

  test('of a long list are few, and a change makes one or two new ones', () => {
    const before = chunkDigests(items)
    expect(before.length).toBeLessThan(items.length / 16)
    for (const [place] of items.entries()) {
      const after = chunkDigests(items.with(place, item(-1)))
      expect(after.filter((each) => !before.includes(each)).length).toBeLessThanOrEqual(2)
    }
  })
})
