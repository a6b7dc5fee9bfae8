import { connect, type Socket } from 'node:net'

/** What came of one request. */
export interface RawAnswer {
  readonly status: number
  readonly body: string
  /** The answer announced the end of the connection. */
  readonly closes: boolean
}

/** One HTTP/1.1 connection, which stays open as long as the other side lets it, for one request at a time. */
export interface RawConnection {
  /**
   * Writes the request at once, within this call, once the connection is up. Rejects if it breaks, or nothing comes
   * for `silenceMs`.
   */
  readonly ask: (path: string, headers: Readonly<Record<string, string>>) => Promise<RawAnswer>
  readonly isOpen: () => boolean
  readonly close: () => void
}

/** An answer takes milliseconds; one that takes this long does not come, on however busy a machine. */
const silenceMs = 15_000

interface Waiting {
  readonly resolve: (answer: RawAnswer) => void
  readonly reject: (error: Error) => void
}

/** Resolves once the connection is up. */
export const openRawConnection = (port: number, host = '127.0.0.1'): Promise<RawConnection> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host, noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(onSocket(socket))
    })
  })

const onSocket = (socket: Socket): RawConnection => {
  let text = ''
  let waiting: Waiting | undefined
  let open = true
  const settle = (act: (waiter: Waiting) => void): void => {
    const waiter = waiting
    waiting = undefined
    if (waiter !== undefined) act(waiter)
  }
  const end = (why: string): void => {
    open = false
    socket.destroy()
    settle(({ reject }) => reject(new Error(why)))
  }
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    const answer = answerIn(text)
    if (answer === undefined) return
    text = ''
    if (answer.closes) open = false
    settle(({ resolve }) => resolve(answer))
  })
  socket.on('error', (error) => end(error.message)).on('close', () => end('it was closed'))
  socket.setTimeout(silenceMs, () => {
    if (waiting !== undefined) end('nothing came')
  })
  return {
    ask: (path, headers) =>
      new Promise((resolve, reject) => {
        if (!open) return reject(new Error('it was closed'))
        if (waiting !== undefined) return reject(new Error('another request is on its way'))
        waiting = { resolve, reject }
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
      }),
    isOpen: () => open,
    close: () => end('it was closed by its owner'),
  }
}

/** The answer, once all of it is there. Envoy sends a length with all that our backends and routes answer. */
const answerIn = (text: string): RawAnswer | undefined => {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = text.slice(0, headEnd)
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const body = text.slice(headEnd + 4)
  if (body.length < length) return undefined
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  return { status, body, closes: /^connection: *close/im.test(head) }
}
