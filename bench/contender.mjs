import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from './child.mjs'
import { inProduction, script, startServer } from './control-plane.mjs'
import { startPace } from './pace.mjs'

/**
 * After an ACK a control plane may still have something to do, as ours has 50 ms later when it looks at its ledger; in
 * milliseconds.
 */
const restMs = 150

/**
 * A control plane has run for a while when a change meets it. V8 has compiled for good what a change takes of ours after
 * some 2,000 of them, however long these take; Go compiles ahead.
 */
const warmUpMs = { ours: 10_000, peer: 3_000 }

/** A control plane, ours or the peer, that serves a world to so many Envoys, which have taken all of it in. */
export const startContender = async (who, world, { streams = 1, variant = 'delta' } = {}) => {
  const { server, port } = await startServer(who, inProduction)
  const envoys = startChild(process.execPath, [script('client/main.mjs')])
  await envoys.next()
  await server.ask({ cmd: 'world', ...world })
  await envoys.ask({ cmd: 'connect', port, count: streams, variant })
  await sleep(restMs)
  const pace = startPace(({ wireUs }) => wireUs, warmUpMs[who])
  return {
    world,
    warmUp: (nextChange) =>
      pace.warmUp(nextChange, (changes) => server.ask({ cmd: 'changes', changes })),
    sample: async (nextChange) =>
      pace.note(await measure(server, envoys, pace.changes(nextChange))),
    burst: (changes) => burst(server, envoys, changes),
    stop: async () => {
      await envoys.stop()
      await server.stop()
    },
  }
}

/**
 * What each of some changes takes in the control plane's process, in microseconds of CPU: until it is written for each
 * stream (`wireUs`), until each has accepted it (`ackedUs`), until nothing is left to do (`restUs`); and the memory then.
 */
const measure = async (server, envoys, changes) => {
  await envoys.ask({ cmd: 'expect', markers: changes.map(({ marker }) => marker) })
  const before = await server.ask({ cmd: 'rusage' })
  const { wireUs, ackedUs } = await server.ask({ cmd: 'changes', changes })
  await envoys.ask({ cmd: 'arrived' })
  await sleep(restMs)
  const { cpuUs, rssBytes } = await server.ask({ cmd: 'rusage' })
  return { wireUs, ackedUs, restUs: (cpuUs - before.cpuUs) / changes.length, rssBytes }
}

/** How many responses of each type a stream is sent for changes that come at once. */
const burst = async (server, envoys, changes) => {
  await envoys.ask({ cmd: 'expect', markers: changes.map(({ marker }) => marker) })
  await server.ask({ cmd: 'burst', changes })
  await envoys.ask({ cmd: 'arrived' })
  await sleep(restMs)
  return (await envoys.ask({ cmd: 'totals' })).responses
}
