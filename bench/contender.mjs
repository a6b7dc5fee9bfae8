import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endpointType, routeType } from 'edgewright'
import { startChild } from './child.mjs'
import { buildPeer } from './peer/build.mjs'

const script = (path) => fileURLToPath(new URL(path, import.meta.url))

/** How each control plane is started. */
const programs = {
  ours: () => [process.execPath, [script('ours/server.mjs')]],
  peer: () => [buildPeer(), []],
}

/**
 * After an ACK a control plane may still have something to do, as ours has 50 ms later when it looks at its ledger; in
 * milliseconds.
 */
const restMs = 150

/** Starts a control plane, ours or the peer, without a world. */
const startServer = async (who) => {
  const server = startChild(...programs[who]())
  const { port } = await server.next()
  return { server, port }
}

/** What it takes to build a world from nothing in a new process: `ms` and `cpuUs`. */
export const coldBuild = async (who, world) => {
  const { server } = await startServer(who)
  const before = await server.ask({ cmd: 'rusage' })
  const { buildMs, cpuUs } = await server.ask({ cmd: 'world', ...world })
  await server.stop()
  return { ms: buildMs, cpuUs: cpuUs - before.cpuUs }
}

/** A control plane, ours or the peer, that serves a world to so many Envoys, which have taken all of it in. */
export const startContender = async (who, world, streams = 1) => {
  const { server, port } = await startServer(who)
  const envoys = startChild(process.execPath, [script('client/main.mjs')])
  await envoys.next()
  await server.ask({ cmd: 'world', ...world })
  await envoys.ask({ cmd: 'connect', port, count: streams })
  await sleep(restMs)
  return {
    world,
    warmUp: (makeChange) => warmUp(server, envoys, makeChange),
    change: (change) => measure(server, envoys, change),
    burst: (changes) => burst(server, envoys, changes),
    stop: async () => {
      await envoys.stop()
      await server.stop()
    },
  }
}

/** A control plane has run for a while when a change meets it: so many changes, or for so many milliseconds. */
const warmUpChanges = 2_000
const warmUpMs = 3_000

const warmUp = async (server, envoys, makeChange) => {
  const start = performance.now()
  for (let i = 0; i < warmUpChanges && performance.now() - start < warmUpMs; i++) {
    const change = makeChange(i)
    await envoys.ask({ cmd: 'expect', markers: [change.marker] })
    await server.ask(change)
    await envoys.ask({ cmd: 'arrived' })
  }
  await sleep(restMs)
}

/**
 * What one change takes in the control plane's process: until each stream has been sent it (`wireUs`), and until
 * nothing of it is left to do (`restUs`), in microseconds of CPU; and its memory then.
 */
const measure = async (server, envoys, change) => {
  await envoys.ask({ cmd: 'expect', markers: [change.marker] })
  const before = await server.ask({ cmd: 'rusage' })
  await server.ask(change)
  const { bytes } = await envoys.ask({ cmd: 'arrived' })
  const arrived = await server.ask({ cmd: 'rusage' })
  await sleep(restMs)
  const atRest = await server.ask({ cmd: 'rusage' })
  return {
    wireUs: arrived.cpuUs - before.cpuUs,
    restUs: atRest.cpuUs - before.cpuUs,
    rssBytes: atRest.rssBytes,
    bytes,
  }
}

/** How many responses of each type a stream is sent for changes that come at once. */
const burst = async (server, envoys, changes) => {
  await envoys.ask({ cmd: 'expect', markers: changes.map(({ marker }) => marker) })
  await server.ask({ cmd: 'burst', changes })
  await envoys.ask({ cmd: 'arrived' })
  await sleep(restMs)
  return (await envoys.ask({ cmd: 'totals' })).responses
}

/** Each change is another one than all before, so that what arrives can be told from what was there. */
let changes = 100_000

/** A new path for route `i`; all have the same length. */
export const changedPath = (i) => {
  changes += 1
  const suffix = `v${changes}`
  const marker = { typeUrl: routeType, text: `/r${i}-${suffix}` }
  return { cmd: 'changePath', i, suffix, marker }
}

/** A new address for backend `i`; all have the same length. */
export const changedEndpoint = (i) => {
  changes += 1
  const part = (divisor) => 100 + (Math.floor(changes / divisor) % 100)
  const address = `11.${part(10_000)}.${part(100)}.${part(1)}`
  return { cmd: 'changeEndpoint', i, address, marker: { typeUrl: endpointType, text: address } }
}
