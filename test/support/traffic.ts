import { Agent, createServer, request as httpRequest } from 'node:http'
import { eventually } from './envoy.js'

export interface Backend {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Answers with `body` on every address of the machine: all of 127.0.0.0/8 are. */
export const startBackend = (body: string): Promise<Backend> =>
  new Promise((resolve, reject) => {
    const server = createServer((_, response) => response.end(body))
    server.on('error', reject)
    server.listen(0, '0.0.0.0', () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : 0,
        stop: () =>
          new Promise((done) => {
            server.close(() => done())
            server.closeAllConnections()
          }),
      })
    })
  })

/** How long an answer may take. */
const answerMs = 10_000

/** `200 body`, or the status alone of what is no 200. */
export const ask = (port: number, path: string, agent: Agent | false = false): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, timeout: answerMs, agent })
    sent.on('timeout', () => sent.destroy(new Error(`${path} did not answer`)))
    sent.on('error', reject)
    sent.on('response', (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (body += chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve(answer.statusCode === 200 ? `200 ${body}` : `${answer.statusCode}`),
      )
    })
    sent.end()
  })

/** Waits until a path is answered so. */
export const answers = async (
  port: number,
  path: string,
  answer: string,
  withinMs?: number,
): Promise<void> => {
  await eventually(
    () => ask(port, path),
    (got) => got === answer,
    withinMs,
  )
}

/** What an observer collects while requests are sent without a pause. */
export interface Traffic {
  /** Ends it; returns each different answer of each path, in the order in which it was first seen. */
  readonly stop: () => Promise<ReadonlyMap<string, ReadonlyArray<string>>>
}

/** Sends requests to these paths by turns, on connections of its own, until it is stopped. */
export const startTraffic = (port: number, paths: ReadonlyArray<string>): Traffic => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const seen = new Map<string, ReadonlyArray<string>>()
  const state = { stopping: false }
  const run = async (): Promise<void> => {
    while (!state.stopping)
      for (const path of paths) {
        const answer = await ask(port, path, agent).catch((cause: unknown) => String(cause))
        const before = seen.get(path) ?? []
        if (!before.includes(answer)) seen.set(path, [...before, answer])
      }
  }
  const running = run()
  return {
    stop: async () => {
      state.stopping = true
      await running
      agent.destroy()
      return seen
    },
  }
}

/** The middle one. */
export const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN
