import type { Sink } from './sink.js'

const newline = 0x0a

/**
 * Cuts a stream of bytes into lines, and passes each on without its end; empty ones are left out. A
 * line that is longer than `maxBytes` is a problem, as is an `onLine` that throws.
 *
 * Guarantees: no line comes once `isOver`, nor is a character cut in two. Cost: each byte is copied
 * once at most, however many chunks a line comes in.
 */
export const lineSink = (
  onLine: (line: string) => void,
  isOver: () => boolean,
  maxBytes: number,
): Sink => {
  let begun: Array<Buffer> = []
  let begunBytes = 0
  const pass = (rest: Buffer): string | undefined => {
    const bytes = begun.length === 0 ? rest : Buffer.concat([...begun, rest])
    begun = []
    begunBytes = 0
    if (bytes.length > maxBytes) return tooLong(maxBytes)
    return bytes.length === 0 ? undefined : call(onLine, bytes.toString('utf8'))
  }
  return {
    write: (chunk) => {
      let start = 0
      while (!isOver()) {
        const end = chunk.indexOf(newline, start)
        if (end < 0) break
        const problem = pass(chunk.subarray(start, end))
        if (problem !== undefined) return problem
        start = end + 1
      }
      if (start === chunk.length || isOver()) return undefined
      begun.push(chunk.subarray(start))
      begunBytes += chunk.length - start
      return begunBytes > maxBytes ? tooLong(maxBytes) : undefined
    },
    end: () => (isOver() ? undefined : pass(Buffer.alloc(0))),
    body: () => undefined,
  }
}

const tooLong = (maxBytes: number): string => `it sends a line of more than ${maxBytes} bytes`

const call = (onLine: (line: string) => void, line: string): string | undefined => {
  try {
    onLine(line)
    return undefined
  } catch (cause) {
    return `what reads its lines has failed: ${String(cause)}`
  }
}
