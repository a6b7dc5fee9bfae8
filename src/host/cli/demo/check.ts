import { Agent } from 'node:http'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { backendOf, type DemoBackend } from './backends.js'
import { get, type HttpAnswer } from './http.js'
import { routeFile } from './routes.js'

/** A demo that is running. */
export interface Stage {
  /** Where requests go, as in `http://127.0.0.1:10000`. */
  readonly url: string
  /** The folder of the routes. */
  readonly directory: string
  readonly shop: DemoBackend
  readonly blog: DemoBackend
}

/** All the steps take two seconds; this is for a machine that is busy with other things. */
const deadlineMs = 60_000
const pollMs = 20
/** How many requests are under way at a time while a route is removed. */
const loadWorkers = 4
/** The load goes on for this long after the route is gone: what a removal breaks shows late. */
const loadTailMs = 1_000

/**
 * Goes through the demo without a person: two routes answer from the right backends, one is removed
 * and answers 404, and the other never fails meanwhile. Rejects with what was not so.
 */
export const checkDemo = async (
  stage: Stage,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  const deadline = AbortSignal.timeout(deadlineMs)
  const stop = AbortSignal.any([signal, deadline])
  try {
    await checkSteps(stage, say, stop)
  } catch (cause) {
    if (!deadline.aborted) throw cause
    throw new Error(`not done within ${deadlineMs / 1000} s: ${messageOf(cause)}`, { cause })
  }
}

const checkSteps = async (
  { url, directory, shop, blog }: Stage,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  for (const { name } of [shop, blog]) {
    await until(`${url}/${name}`, (answer) => isFrom(answer, name), signal)
    say(`GET /${name}: 200 from ${name}`)
  }
  expectAnswer(await get(`${url}/shopping`, { signal }), 404, '/shopping is not of /shop')
  say('GET /shopping: 404, since a prefix ends at a path element')

  const load = startLoad(`${url}/${blog.name}`, (answer) => isFrom(answer, blog.name), signal)
  try {
    await rm(routeFile(directory, shop))
    say(`Removed ${routeFile(directory, shop)}`)
    await until(`${url}/${shop.name}`, ({ status }) => status === 404, signal)
    say(`GET /${shop.name}: 404`)
    await sleep(loadTailMs, undefined, { signal })
  } finally {
    await load.stop()
  }
  const { sent, failed, firstFailure } = load.result()
  if (failed > 0)
    throw new Error(`${failed} of ${sent} requests to /${blog.name} failed, first: ${firstFailure}`)
  if (sent === 0) throw new Error(`no request to /${blog.name} was answered meanwhile`)
  say(`GET /${blog.name}: 200 from ${blog.name}, ${sent} times meanwhile, and it never failed`)
}

const isFrom = ({ status, body }: HttpAnswer, name: string): boolean =>
  status === 200 && backendOf(body) === name

const expectAnswer = (answer: HttpAnswer, status: number, what: string): void => {
  if (answer.status !== status) throw new Error(`${what}: expected ${status}, got ${show(answer)}`)
}

const show = ({ status, body }: HttpAnswer): string => `${status} ${JSON.stringify(body)}`

/** Asks again until the answer holds; rejects with the last answer when the signal aborts. */
const until = async (
  url: string,
  holds: (answer: HttpAnswer) => boolean,
  signal: AbortSignal,
): Promise<void> => {
  const isOver = (): boolean => signal.aborted
  let last = 'nothing'
  while (!isOver()) {
    const answer = await get(url, { signal }).catch(messageOf)
    if (typeof answer !== 'string' && holds(answer)) return
    // That a request was cut off at the end says nothing of what was answered before.
    if (typeof answer === 'string' && isOver()) break
    last = typeof answer === 'string' ? answer : show(answer)
    await sleep(pollMs)
  }
  throw new Error(`GET ${url}: the last answer was ${last}`)
}

interface Load {
  readonly stop: () => Promise<void>
  readonly result: () => LoadResult
}

interface LoadResult {
  readonly sent: number
  readonly failed: number
  readonly firstFailure: string
}

/**
 * Sends requests without a pause, over connections that are kept, until it is stopped or the signal
 * aborts. A request that the signal has cut off says nothing, and does not count.
 */
const startLoad = (
  url: string,
  holds: (answer: HttpAnswer) => boolean,
  signal: AbortSignal,
): Load => {
  const agent = new Agent({ keepAlive: true, maxSockets: loadWorkers })
  let sent = 0
  let failed = 0
  let firstFailure = ''
  let stopped = false
  const isOver = (): boolean => stopped || signal.aborted
  const work = async (): Promise<void> => {
    while (!isOver()) {
      const wrong = await get(url, { agent, signal }).then(
        (answer) => (holds(answer) ? undefined : show(answer)),
        messageOf,
      )
      if (signal.aborted) return
      sent += 1
      if (wrong === undefined) continue
      if (failed === 0) firstFailure = wrong
      failed += 1
    }
  }
  const workers = Array.from({ length: loadWorkers }, work)
  return {
    stop: async () => {
      stopped = true
      await Promise.all(workers)
      agent.destroy()
    },
    result: () => ({ sent, failed, firstFailure }),
  }
}

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
