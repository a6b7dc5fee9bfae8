import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/envoy.js'
import type { ClusterAccess } from '../cluster/cluster.js'
import { requestJson } from '../cluster/request.js'
import type { EdgeRouteObject } from './edge-objects.js'

/** A change that the API server told of. */
export interface RouteEvent {
  readonly type: string
  readonly object: EdgeRouteObject
  /** When this process has heard of it, by `performance.now()`. */
  readonly atMs: number
}

/**
 * A watch of the EdgeRoutes of one namespace, independent of the control plane, that goes on after the API server was
 * away: it lists what there is, tells how that differs from what it knew, and watches from there.
 *
 * What was there before such a gap and is gone after it, or has another uid, is told of as `DELETED`, in the form in
 * which it was known, and later than it went. What is missed is what a gap hides wholly: an object that was made and
 * deleted in it, and forms that an object had in between.
 */
export interface RouteWatch {
  readonly events: ReadonlyArray<RouteEvent>
  /** Calls at each event, at once. */
  readonly onEvent: (listener: (event: RouteEvent) => void) => void
  /** Resolves with the first event, told already or yet to come, of which this is true. */
  readonly until: (isIt: (event: RouteEvent) => boolean, withinMs?: number) => Promise<RouteEvent>
  readonly stop: () => void
}

/** How long an event is waited for that has to come, and the first list. */
const patienceMs = 30_000

/** Before what has ended is begun anew: an API server that has just started asks to wait (429). */
const pauseMs = 250

type Told = Omit<RouteEvent, 'atMs'>

/** Starts one, and waits until the API server has said what there is. It goes on until it is stopped. */
export const watchRoutes = async (
  cluster: ClusterAccess,
  namespace: string,
): Promise<RouteWatch> => {
  const { tell, ...heard } = hearing()
  const known = new Map<string, EdgeRouteObject>()
  const onTold = (told: Told): void => {
    const { name } = told.object.metadata
    if (told.type === 'DELETED') known.delete(name)
    else known.set(name, told.object)
    tell(told)
  }
  const server = serverOf(cluster, namespace)
  const relist = async (): Promise<string> => {
    const { items, metadata } = await server.list()
    for (const told of changesFrom(known, items)) onTold(told)
    return metadata.resourceVersion
  }
  const ended = new AbortController()
  const isOver = (): boolean => ended.signal.aborted
  const followOn = async (first: string): Promise<void> => {
    let version: string | undefined = first
    while (!isOver()) {
      if (version !== undefined) await server.follow(version, onTold, ended.signal)
      await pause(pauseMs)
      if (!isOver()) version = await relist().catch(() => undefined)
    }
  }
  void followOn(await eventually(relist, () => true, patienceMs))
  return { ...heard, stop: () => ended.abort() }
}

/** How what there is differs from what was known: what is gone comes first. */
const changesFrom = (
  known: ReadonlyMap<string, EdgeRouteObject>,
  items: ReadonlyArray<EdgeRouteObject>,
): ReadonlyArray<Told> => {
  const present = new Map(items.map((object) => [object.metadata.name, object]))
  const isSame = (a: EdgeRouteObject | undefined, b: EdgeRouteObject | undefined): boolean =>
    a?.metadata.uid === b?.metadata.uid
  const gone = [...known]
    .filter(([name, object]) => !isSame(object, present.get(name)))
    .map(([, object]) => ({ type: 'DELETED', object }))
  const rest = items.flatMap((object) => {
    const before = known.get(object.metadata.name)
    if (!isSame(before, object)) return [{ type: 'ADDED', object }]
    const isUnchanged = before?.metadata.resourceVersion === object.metadata.resourceVersion
    return isUnchanged ? [] : [{ type: 'MODIFIED', object }]
  })
  return [...gone, ...rest]
}

interface RouteList {
  readonly items: ReadonlyArray<EdgeRouteObject>
  readonly metadata: { readonly resourceVersion: string }
}

interface Server {
  readonly list: () => Promise<RouteList>
  /** Hands on what changes from a version on; resolves when the answer has ended, however that came. */
  readonly follow: (
    version: string,
    onTold: (told: Told) => void,
    signal: AbortSignal,
  ) => Promise<void>
}

const serverOf = ({ url, caFile, adminToken }: ClusterAccess, namespace: string): Server => {
  const ca = readFileSync(caFile)
  const path = `/apis/net.10xdev.io/v1/namespaces/${namespace}/edgeroutes`
  const headers = { authorization: `Bearer ${adminToken}` }
  return {
    list: async () => {
      const { status, body } = await requestJson(url, ca, { path, token: adminToken })
      if (status !== 200) throw new Error(`the API server answers a list with ${status}`)
      return body as RouteList
    },
    follow: (version, onTold, signal) =>
      new Promise((resolve) => {
        const target = `${url}${path}?watch=true&resourceVersion=${version}`
        const sent = request(target, { ca, headers, agent: false, signal }, (answer) => {
          answer.on('error', () => undefined)
          if (answer.statusCode !== 200) return void answer.resume()
          let rest = ''
          answer.setEncoding('utf8').on('data', (chunk: string) => {
            const lines = (rest + chunk).split('\n')
            rest = lines.pop() ?? ''
            for (const told of lines.map((line) => JSON.parse(line) as Told))
              // The version is too old: only a list helps.
              if (told.type === 'ERROR') return void sent.destroy()
              else onTold(told)
          })
        })
        sent.on('error', () => undefined)
        sent.on('close', resolve)
        sent.end()
      }),
  }
}

type Hearing = Omit<RouteWatch, 'stop'> & { readonly tell: (told: Told) => void }

const hearing = (): Hearing => {
  const events: Array<RouteEvent> = []
  const listeners = new Set<(event: RouteEvent) => void>()
  return {
    tell: (told) => {
      const event = { ...told, atMs: performance.now() }
      events.push(event)
      for (const listener of [...listeners]) listener(event)
    },
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
  }
}
