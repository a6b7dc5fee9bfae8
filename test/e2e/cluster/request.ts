import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setTimeout } from 'node:timers/promises'

export interface JsonRequest {
  /** `GET` if absent. */
  readonly method?: string
  /** With its query, as in `/api/v1/namespaces?limit=1`. */
  readonly path: string
  readonly body?: unknown
  /** `application/json` if absent. */
  readonly contentType?: string
  readonly token?: string
}

export interface JsonAnswer {
  readonly status: number
  /** The JSON of its body; its text where it is none. */
  readonly body: unknown
}

/** How long nothing may be heard of an answer. */
const silenceMs = 60_000

/** Sends one request on a connection of its own, and reads the whole answer, whatever its status. */
export const requestJson = (
  url: string,
  ca: Buffer,
  { method = 'GET', path, body, contentType = 'application/json', token }: JsonRequest,
): Promise<JsonAnswer> =>
  new Promise((resolve, reject) => {
    const headers = {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': contentType }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const options = { method, ca, headers, agent: false, timeout: silenceMs } as const
    const sent = httpsRequest(url + path, options, (answer) => {
      readText(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, body: parsed(text) }),
        reject,
      )
    })
    sent.on('timeout', () => sent.destroy(new Error(`${path}: no answer in ${silenceMs} ms`)))
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

/** How often, and after which pause, what an API server that starts is too busy for is asked again. */
const tries = 60
const pauseMs = 250

/** As `requestJson`, but asks again where the answer is 429: the server has done nothing, and has just started. */
export const requestPatiently = async (
  url: string,
  ca: Buffer,
  request: JsonRequest,
): Promise<JsonAnswer> => {
  for (let left = tries; ; left -= 1) {
    const answer = await requestJson(url, ca, request)
    if (answer.status !== 429 || left === 0) return answer
    await setTimeout(pauseMs)
  }
}

const readText = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of answer) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString('utf8')
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
