import { request } from 'node:http'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { type HostPort, showHostPort } from '../../bootstrap.js'
import { type Decoder, errorDecoder } from './decode.js'

/** What is asked of an admin endpoint. */
export interface Question<A> {
  readonly method: 'GET' | 'POST'
  /** The parts of the path, as they are: they are percent-encoded here. */
  readonly path: ReadonlyArray<string>
  /** What a POST says. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly decoder: Decoder<A>
}

/** Longer than the endpoint takes for anything before it says that it takes too long. */
const silenceTimeoutMs = 40_000

/** The largest answer, 5,000 nodes with 20 routes of 300 bytes and 3 refusals of 1 KB each, in bytes. */
const maxAnswerBytes = 64 * 1024 * 1024

/**
 * Asks a running control plane. Left is why there is no answer, for people. (Not `fetch`: it refuses
 * some ports, and follows redirects.)
 */
export const askAdmin = async <A>(
  admin: HostPort,
  question: Question<A>,
  signal: AbortSignal,
): Promise<Either<string, A>> => {
  try {
    const { status, body } = await exchange(admin, question, signal)
    const json = parseJson(body)
    if (status === 200) {
      const decoded = question.decoder.decode(json)
      return E.isRight(decoded) ? decoded : E.left(notOurs(admin))
    }
    const error = errorDecoder.decode(json)
    return E.left(E.isRight(error) ? error.right.error.message : notOurs(admin))
  } catch (cause) {
    return E.left(signal.aborted ? 'interrupted' : whyNot(admin, cause))
  }
}

interface Received {
  readonly status: number
  readonly body: string
}

const exchange = (
  { host, port }: HostPort,
  { method, path, body }: Question<unknown>,
  signal: AbortSignal,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = request(
      {
        ...{ host, port, method, signal, agent: false, timeout: silenceTimeoutMs },
        path: `/${path.map(encodeURIComponent).join('/')}`,
        headers: text === undefined ? {} : { 'content-type': 'application/json' },
      },
      (answer) => {
        const chunks: Array<Buffer> = []
        let bytes = 0
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxAnswerBytes) sent.destroy(new Error('the answer is too large'))
          else chunks.push(chunk)
        })
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
        )
      },
    )
    sent.on('timeout', () =>
      sent.destroy(new Error(`it has been silent for ${silenceTimeoutMs / 1_000} s`)),
    )
    sent.on('error', reject)
    sent.end(text)
  })

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const notOurs = (admin: HostPort): string =>
  `what listens on ${showHostPort(admin)} is no admin endpoint of this version of edgewright: compare
--admin here with --admin of edgewright serve (--xds is another port)`

const whyNot = (admin: HostPort, cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code.startsWith('HPE_')) return notOurs(admin)
  const why = cause instanceof Error && cause.message !== '' ? cause.message : code
  return unreachable.has(code)
    ? `no control plane listens on ${showHostPort(admin)} (${code}).
Is edgewright serve running, and without --admin off? It listens on the loopback address of its own
machine: run this command there, or forward the port, and say where it is with --admin HOST:PORT`
    : `the control plane on ${showHostPort(admin)} gave no answer: ${why}`
}

const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
])
