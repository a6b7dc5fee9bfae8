import type { IncomingMessage, ServerResponse } from 'node:http'

/** An open watch that passes through. */
export interface Watch {
  /** Ends it without a word, to both sides. */
  readonly cut: () => void
  /** Passes on what was kept back. */
  readonly flush: () => void
}

export interface WatchOptions {
  /** What the API server says. */
  readonly got: IncomingMessage
  readonly answer: ServerResponse
  /** All that are open: this one is there as long as it is. */
  readonly watches: Set<Watch>
  /** Whether what comes is kept back. */
  readonly isFrozen: () => boolean
  /** Is told of each event that says: what you ask for is too old. */
  readonly onGone: () => void
}

/** Passes a watch on until either side ends it. The head of the answer is written, but not sent before the first event. */
export const passWatch = (options: WatchOptions): Promise<void> =>
  new Promise((resolve) => {
    const { got, answer, watches } = options
    const kept: Array<Uint8Array> = []
    const ends = { isOver: false }
    const flush = (): void => {
      for (const chunk of kept.splice(0)) answer.write(chunk)
      if (ends.isOver) answer.end()
    }
    const watch: Watch = {
      cut: () => {
        got.destroy()
        answer.destroy()
      },
      flush,
    }
    watches.add(watch)
    const look = lookForGone(options.onGone)
    if (!options.isFrozen()) answer.flushHeaders()
    got.on('data', (chunk: Buffer) => {
      look(chunk)
      kept.push(chunk)
      if (!options.isFrozen()) flush()
    })
    got.on('end', () => {
      ends.isOver = true
      if (!options.isFrozen()) flush()
    })
    got.on('error', () => answer.destroy())
    answer.on('close', () => {
      watches.delete(watch)
      got.destroy()
      resolve()
    })
  })

interface ErrorEvent {
  readonly object?: { readonly code?: number }
}

/** Reads the lines of a stream. (In Latin-1: what matters is ASCII, and no character is cut in two.) */
const lookForGone = (onGone: () => void): ((chunk: Buffer) => void) => {
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines)
      if (
        line.startsWith('{"type":"ERROR"') &&
        (JSON.parse(line) as ErrorEvent).object?.code === 410
      )
        onGone()
  }
}
