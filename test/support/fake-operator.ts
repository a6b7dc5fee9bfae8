import { connect } from 'node:net'
import { type AdminLimits, serveAdmin } from '../../src/host/admin/index.js'
import { edgewright } from '../../src/host/cli/edgewright.js'
import type { Explanation, NodeReport, Operator } from '../../src/host/operator.js'
import type { HostPort } from '../../src/ports/host-port.js'
import type { LogLevel } from '../../src/ports/logger.js'
import type { Finished } from './cli.js'

/** The time of the control plane that is asked: noon. */
export const noonMs: number = Date.UTC(2026, 0, 1, 12)

/** A date so many seconds before noon. */
export const before = (seconds: number): string => new Date(noonMs - seconds * 1_000).toISOString()

export const aNode = (given: Partial<NodeReport> = {}): NodeReport => ({
  id: 'envoy-1',
  dataPlane: 'edge-envoy',
  connected: true,
  isAwaited: false,
  isShared: false,
  since: before(3_600),
  lastSaid: { what: 'ACK', at: before(60), version: 'v1', message: '' },
  isUpToDate: true,
  refusals: [],
  holdsUp: [],
  ...given,
})

/** An object that waits for the nodes that owe something. */
export const anExplanation = (given: Partial<Explanation> = {}): Explanation => ({
  key: { namespace: 'shop', name: 'checkout' },
  uid: 'uid-1',
  state: {
    _tag: 'Waiting',
    sinceMs: noonMs - 200_000,
    waitsFor: {
      _tag: 'Owed',
      nodes: (given.owed ?? []).map(({ id }) => id),
      nodeCount: (given.owed ?? []).length,
    },
  },
  conditions: [],
  owed: [],
  ...given,
})

/** A control plane without any routes and Envoys, but for what it is given. */
export const fakeOperator = (given: Partial<Operator> = {}): Operator => ({
  explain: () => [],
  nodes: () => [],
  forget: () => Promise.resolve('Unknown'),
  breakGlass: () => Promise.resolve({ _tag: 'Unknown' }),
  ...given,
})

/** What was logged, level and message. */
export type Logged = readonly [LogLevel, string, Readonly<Record<string, unknown>> | undefined]

export interface FakeAdmin {
  readonly address: HostPort
  readonly admin: string
  readonly logged: ReadonlyArray<Logged>
  readonly finished: Promise<void>
  readonly stop: () => Promise<void>
}

/** The real endpoint before a fake control plane, on any port. */
export const startAdmin = async (
  operator: Operator | undefined,
  limits: Partial<AdminLimits> = {},
  host = '127.0.0.1',
): Promise<FakeAdmin> => {
  const stopping = new AbortController()
  const logged: Array<Logged> = []
  const { address, finished } = await serveAdmin(
    {
      ...{ host, port: 0, limits },
      clock: { nowMs: () => noonMs },
      logger: { log: (level, message, fields) => void logged.push([level, message, fields]) },
    },
    () => operator,
    stopping.signal,
  )
  const stop = (): Promise<void> => {
    stopping.abort()
    return finished
  }
  return { address, admin: `127.0.0.1:${address.port}`, logged, finished, stop }
}

/** Runs a command inside this process with one line of input, or none; `undefined` is the end of it. */
export const runWithLine = async (
  argv: ReadonlyArray<string>,
  line: string | undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<Finished> => {
  let out = ''
  let err = ''
  const code = await edgewright(argv, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    readLine: () => Promise.resolve(line),
    color: false,
    env: {},
    signal,
  })
  return { code, out, err }
}

export interface RawAnswer {
  readonly text: string
  /** Until the other side closed the connection, in milliseconds. */
  readonly tookMs: number
}

/** Sends bytes as they are, and reads until the other side closes; rejects after `withinMs`. */
export const sendRaw = (port: number, bytes: string, withinMs = 5_000): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const beganMs = performance.now()
    let text = ''
    const socket = connect(port, '127.0.0.1', () => void socket.write(bytes))
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`still open after ${withinMs} ms; received: ${text}`))
    }, withinMs)
    socket.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
    // A reset is a way to close, too: what was sent and is not read causes one.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ text, tookMs: performance.now() - beganMs })
    })
  })
