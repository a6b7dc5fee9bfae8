/**
 * Takes in a reply. What it returns is what is wrong with the reply, as in `it sends nonsense`; the
 * reply is then broken off.
 */
export interface Sink {
  readonly write: (chunk: Buffer) => string | undefined
  /** There is no more. */
  readonly end: () => string | undefined
  /** The JSON that came; `undefined` where it was none. Called once at most, after `end`. */
  readonly body: () => unknown
}

/** Keeps a whole reply; one of more than `maxBytes` is a problem. */
export const bodySink = (maxBytes: number): Sink => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  return {
    write: (chunk) => {
      bytes += chunk.length
      if (bytes > maxBytes) return `it sends a reply of more than ${maxBytes} bytes`
      chunks.push(chunk)
      return undefined
    },
    end: () => undefined,
    body: () => parsed(Buffer.concat(chunks)),
  }
}

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
