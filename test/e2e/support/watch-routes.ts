import type { ClientRequest } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClusterAccess } from '../cluster/cluster.js'
import type { EdgeRouteObject } from './edge-objects.js'

/** A change that the API server told of. */
export interface RouteEvent {
  readonly type: string
  readonly object: EdgeRouteObject
  /** When this process has heard of it, by `performance.now()`. */
  readonly atMs: number
}

/** A watch of the EdgeRoutes of one namespace, independent of the control plane. */
export interface RouteWatch {
  readonly events: ReadonlyArray<RouteEvent>
  /** Calls at each event, at once. */
  readonly onEvent: (listener: (event: RouteEvent) => void) => void
  /** Resolves with the first event, told already or yet to come, of which this is true. */
  readonly until: (isIt: (event: RouteEvent) => boolean, withinMs?: number) => Promise<RouteEvent>
  readonly stop: () => void
}

/** How long an event is waited for that has to come. */
const patienceMs = 30_000

/** An API server that has just started asks to wait (429). */
const pauseMs = 250

/** Asks until it is answered well, and hands on the lines of that answer. */
const answered = async (
  url: string,
  options: RequestOptions,
  onLine: (line: string) => void,
): Promise<ClientRequest> => {
  const untilMs = performance.now() + patienceMs
  for (;;) {
    const sent = request(url, options)
    const said = await new Promise<number | string>((resolve) => {
      sent.on('error', ({ message }) => resolve(message))
      sent.on('response', (answer) => {
        answer.on('error', () => undefined)
        const lines = createInterface({ input: answer })
        lines.on('error', () => undefined)
        if (answer.statusCode === 200) lines.on('line', onLine)
        resolve(answer.statusCode ?? 0)
      })
      sent.end()
    })
    if (said === 200) return sent
    sent.destroy()
    if (performance.now() > untilMs) throw new Error(`the API server answers a watch with ${said}`)
    await pause(pauseMs)
  }
}

/** Starts one, and waits until the API server answers. It ends with the API server. */
export const watchRoutes = async (
  cluster: ClusterAccess,
  namespace: string,
): Promise<RouteWatch> => {
  const events: Array<RouteEvent> = []
  const listeners = new Set<(event: RouteEvent) => void>()
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes?watch=true`
  const url = `${cluster.url}${path}`
  const options = {
    ca: readFileSync(cluster.caFile),
    headers: { authorization: `Bearer ${cluster.adminToken}` },
    agent: false,
  }
  const onLine = (line: string): void => {
    const { type, object } = JSON.parse(line) as Omit<RouteEvent, 'atMs'>
    const event = { type, object, atMs: performance.now() }
    events.push(event)
    for (const listener of [...listeners]) listener(event)
  }
  const sent = await answered(url, options, onLine)
  return {
    events,
    onEvent: (listener) => void listeners.add(listener),
    until: (isIt, withinMs = patienceMs) =>
      new Promise((resolve, reject) => {
        const past = events.find(isIt)
        if (past !== undefined) return resolve(past)
        const timer = setTimeout(() => {
          listeners.delete(listener)
          reject(new Error(`no such event within ${withinMs} ms: ${String(isIt)}`))
        }, withinMs)
        const listener = (event: RouteEvent): void => {
          if (!isIt(event)) return
          clearTimeout(timer)
          listeners.delete(listener)
          resolve(event)
        }
        listeners.add(listener)
      }),
    stop: () => void sent.destroy(),
  }
}
