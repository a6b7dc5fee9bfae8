import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../control-plane.mjs'
import { startPace } from '../pace.mjs'
import { load, untilServed } from './load.mjs'
import { freePort, startEdge } from './processes.mjs'
import { mainThreadUs, rssBytes } from './usage.mjs'

/** After its ACK an Envoy may still have something to do, as to free the table that it had; in milliseconds. */
const restMs = 100
const warmUpMs = 3_000
/** Between two requests for a change that an Envoy may not serve yet, in milliseconds. */
const pauseMs = 1

/**
 * A real Envoy that has taken in a world from a control plane of ours, which may make several tables of its hosts, or
 * one: `tables` is `inProduction` or `oneTable`.
 */
export const startServedEnvoy = async (world, tables) => {
  const listener = { name: 'http', address: '127.0.0.1', port: await freePort() }
  const { server, port } = await startServer('ours', { ...tables, listener })
  await server.ask({ cmd: 'world', ...world })
  const envoy = await startEdge(port)
  const pace = startPace(({ mainUs }) => mainUs, warmUpMs)
  const change = async (changes) => {
    const before = mainThreadUs(envoy.pid)
    await server.ask({ cmd: 'changes', changes })
    await sleep(restMs)
    const mainUs = (mainThreadUs(envoy.pid) - before) / changes.length
    return { mainUs, rssBytes: rssBytes(envoy.pid) }
  }
  return {
    world,
    warmUp: (nextChange) => pace.warmUp(nextChange, change),
    /** What each of some changes takes of the main thread, and the memory then. Nobody sends requests meanwhile. */
    sample: async (nextChange) => pace.note(await change(pace.changes(nextChange))),
    /** How long it takes from a change of a path to an answer under that path. */
    serveMs: async (changedPath) => {
      const startedAt = performance.now()
      const changed = server.ask({ cmd: 'changes', changes: [changedPath] })
      await untilServed(listener.port, requestFor(changedPath), pauseMs)
      const ms = performance.now() - startedAt
      await changed
      return ms
    },
    /** What Envoy says that it has allocated. */
    heapBytes: async () => Number(JSON.parse(await envoy.admin('/memory')).allocated),
    load: (requests, forMs) => load({ pid: envoy.pid, port: listener.port }, requests, forMs),
    stop: async () => {
      await envoy.stop()
      await server.stop()
    },
  }
}

const requestFor = ({ i, marker }) => ({ host: `host-${i}.example.com`, path: marker.text })
