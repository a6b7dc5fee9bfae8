import { fileURLToPath } from 'node:url'
import { shardsOption } from '../dist/host/cli/serve/shards.js'
import { startChild } from './child.mjs'
import { buildPeer } from './peer/build.mjs'

export const script = (path) => fileURLToPath(new URL(path, import.meta.url))

/** How each control plane is started. */
const programs = {
  ours: (options) => [process.execPath, [script('ours/server.mjs'), JSON.stringify(options)]],
  peer: () => [buildPeer(), []],
}

/**
 * Starts a control plane, ours or the peer, without a world. The options are those of ours/control-plane.mjs; the
 * peer has none.
 */
export const startServer = async (who, options) => {
  const server = startChild(...programs[who](options))
  const { port } = await server.next()
  return { server, port }
}

/** What it takes to build a world from nothing in a new process: `ms` and `cpuUs`. */
export const coldBuild = async (who, world) => {
  const { server } = await startServer(who, inProduction)
  const before = await server.ask({ cmd: 'rusage' })
  const { buildMs, cpuUs } = await server.ask({ cmd: 'world', ...world })
  await server.stop()
  return { ms: buildMs, cpuUs: cpuUs - before.cpuUs }
}

/** Many hosts are put into so many route tables, as the command line has it if nobody says otherwise. */
export const inProduction = { shards: Number(shardsOption.fallback) }
/** All hosts are in one route table, however many. */
export const oneTable = { shards: 0 }
