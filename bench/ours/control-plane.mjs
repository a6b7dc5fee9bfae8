import * as E from 'fp-ts/lib/Either.js'
import { defaultContext, defaultDataPlane } from 'edgewright'
import { runController, systemClock } from 'edgewright/host'
import { serveXds } from 'edgewright/xds'

/**
 * edgewright as the README embeds it: a source of states, a controller, an ADS server on a free port. Everything that
 * the benchmarks know of its API is here.
 *
 * `listener` is where Envoys take requests, `shards` how many tables they may get; with 0 they get one, whatever the
 * number of hosts. `observer` is told what goes over the streams. `show` gives the source's next state, and resolves
 * when it, or a later one, was published.
 */
export const startControlPlane = async ({ listener, shards, observer }) => {
  const stop = new globalThis.AbortController()
  const server = await serveXds({ host: '127.0.0.1', port: 0, observer }, stop.signal)
  let tell = () => undefined
  let state
  let waiting = []
  const source = {
    watch: (onState, signal) => () =>
      new Promise((resolve) => {
        tell = () => onState(state)
        signal.addEventListener('abort', () => resolve(E.right(undefined)))
        if (state !== undefined) tell()
      }),
  }
  const sink = {
    publish: (snapshot) => {
      server.publish(snapshot)
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
  const ended = runController(
    { source, sink, ledger: server, clock: systemClock, context: contextOf(listener, shards) },
    stop.signal,
  )
  return {
    port: server.address.port,
    ended,
    show: (next) => {
      state = next
      return new Promise((resolve) => {
        waiting = [...waiting, resolve]
        tell()
      })
    },
  }
}

const contextOf = (listener, shards) => {
  const { listeners } = defaultContext.dataPlanes.get(defaultDataPlane)
  const plane = { listeners: listener === undefined ? listeners : [listener], shards }
  return { ...defaultContext, dataPlanes: new Map([[defaultDataPlane, plane]]) }
}
