import { type Agent, request } from 'node:http'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface GetOptions {
  readonly agent?: Agent
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** An answer on this machine takes milliseconds; one that takes this long does not come. */
const silenceTimeoutMs = 10_000

/**
 * Sends one GET request, and reads the whole answer. (Not `fetch`: it refuses some ports, follows
 * redirects, and keeps connections that nobody can close.)
 */
export const get = (url: string, options: GetOptions = {}): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const { agent, headers, signal } = options
    const sent = request(
      url,
      {
        timeout: silenceTimeoutMs,
        ...(agent === undefined ? {} : { agent }),
        ...(headers === undefined ? {} : { headers }),
        ...(signal === undefined ? {} : { signal }),
      },
      (answer) => {
        const chunks: Array<string> = []
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: chunks.join(''),
          }),
        )
      },
    )
    sent.on('timeout', () =>
      sent.destroy(new Error(`${url} did not answer in ${silenceTimeoutMs} ms`)),
    )
    sent.on('error', reject)
    sent.end()
  })
