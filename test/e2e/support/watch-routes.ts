import { request } from 'node:https'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
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

/** Starts one, and waits until the API server answers. It ends with the API server. */
export const watchRoutes = async (
  cluster: ClusterAccess,
  namespace: string,
): Promise<RouteWatch> => {
  const events: Array<RouteEvent> = []
  const listeners = new Set<(event: RouteEvent) => void>()
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes?watch=true`
  const sent = request(`${cluster.url}${path}`, {
    ca: readFileSync(cluster.caFile),
    headers: { authorization: `Bearer ${cluster.adminToken}` },
    agent: false,
  })
  await new Promise<void>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (answer) => {
      answer.on('error', () => undefined)
      const lines = createInterface({ input: answer })
      lines.on('error', () => undefined)
      lines.on('line', (line) => {
        const { type, object } = JSON.parse(line) as Omit<RouteEvent, 'atMs'>
        const event = { type, object, atMs: performance.now() }
        events.push(event)
        for (const listener of [...listeners]) listener(event)
      })
      if (answer.statusCode === 200) resolve()
      else reject(new Error(`the API server answers a watch with ${answer.statusCode}`))
    })
    sent.end()
  })
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
