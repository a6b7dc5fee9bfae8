import type { Readable } from 'node:stream'

/** Longer than the name of any route, in characters. */
const maxLineLength = 4_096

/**
 * Reads one line. `undefined` if there is none: the input ends before, the line has no end, or `signal`
 * aborts.
 */
export const readLine = (input: Readable, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve) => {
    let text = ''
    const done = (line: string | undefined): void => {
      input.off('data', onData).off('end', onEnd).off('error', onEnd)
      signal.removeEventListener('abort', onEnd)
      input.pause()
      resolve(line)
    }
    const onData = (chunk: Buffer | string): void => {
      text += chunk.toString()
      const end = text.indexOf('\n')
      if (end >= 0) done(text.slice(0, end))
      else if (text.length > maxLineLength) done(undefined)
    }
    const onEnd = (): void => done(signal.aborted || text === '' ? undefined : text)
    if (signal.aborted) return onEnd()
    signal.addEventListener('abort', onEnd)
    input.setEncoding('utf8')
    input.on('data', onData).on('end', onEnd).on('error', onEnd)
  })
