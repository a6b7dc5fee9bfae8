import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineSink } from '../../src/adapters/k8s/client/lines.js'
import { abortTeller } from '../../src/adapters/k8s/client/on-abort.js'
import { bodySink } from '../../src/adapters/k8s/client/sink.js'

/** As long as the shortest lines that are made here, so that all of them are common. */
const maxBytes = 12

const line = fc.string({ unit: fc.constantFrom('a', 'é', '🦊', ' ', '"'), maxLength: 6 })

/** Cuts bytes at some places. */
const cut = (bytes: Buffer, at: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)]
  return places.map((place, index) => bytes.subarray(place, places[index + 1]))
}

const read = (chunks: ReadonlyArray<Buffer>, limit: number) => {
  const lines: Array<string> = []
  const sink = lineSink(
    (each) => void lines.push(each),
    () => false,
    limit,
  )
  for (const chunk of chunks) {
    const problem = sink.write(chunk)
    if (problem !== undefined) return { lines, problem }
  }
  return { lines, problem: sink.end() }
}

test('the lines of a stream do not depend on how its bytes are cut, nor on its last newline', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), fc.boolean(), (lines, at, isEnded) => {
      const text = lines.join('\n') + (isEnded ? '\n' : '')
      const expected = { lines: lines.filter((each) => each !== ''), problem: undefined }
      expect(read(cut(Buffer.from(text), at), 100)).toEqual(expected)
    }),
  )
})

test('a line is too long by its bytes alone, however they are cut; all before it are told', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, at) => {
      const first = lines.findIndex((each) => Buffer.byteLength(each) > maxBytes)
      const told = first < 0 ? lines : lines.slice(0, first)
      const seen = read(cut(Buffer.from(lines.join('\n')), at), maxBytes)
      expect(seen.lines).toEqual(told.filter((each) => each !== ''))
      expect(seen.problem !== undefined).toBe(first >= 0)
    }),
  )
})

test('a reply may be as long as its bound, and not longer', () => {
  const sink = bodySink(4)
  expect(sink.write(Buffer.from('[1'))).toBeUndefined()
  expect(sink.write(Buffer.from('2]'))).toBeUndefined()
  expect(sink.end()).toBeUndefined()
  expect(sink.body()).toEqual([12])
  expect(sink.write(Buffer.from(' '))).toMatch(/more than 4 bytes/)
})

test('each of many who wait for a signal is told once, unless it has lost interest', () => {
  const abort = new AbortController()
  const onAbort = abortTeller()
  const told: Array<number> = []
  const stops = Array.from({ length: 20 }, (_, index) =>
    onAbort(abort.signal, () => void told.push(index)),
  )
  for (const stop of stops.slice(2)) stop()
  abort.abort()
  expect(told).toEqual([0, 1])
})
