// Our control plane in a process of its own, with the commands of bench/peer/main.go. Its argument is JSON: the
// `listener` and the `shards` of bench/ours/control-plane.mjs.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { endpointType, routeType } from 'edgewright'
import { answerLines, say } from '../lines.mjs'
import { startControlPlane } from './control-plane.mjs'
import { startWire } from './wire.mjs'
import { changed, worldOf } from './world.mjs'

const wire = startWire()
const plane = await startControlPlane({
  ...JSON.parse(process.argv[2] ?? '{}'),
  observer: wire.observer,
})
let world

const cpuUs = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

const usage = () => ({ cpuUs: cpuUs(), rssBytes: process.memoryUsage.rss() })

const show = (next) => {
  world = next
  return plane.show(next)
}

const begin = async (form) => {
  const made = worldOf(form)
  const start = performance.now()
  await show(made)
  return { buildMs: performance.now() - start }
}

/**
 * Makes each change when all streams have accepted the one before. The new state of the source is no part of what a
 * change costs: who keeps it is not measured here, and the peer changes its world in place.
 */
const changes = async ({ changes }) => {
  const made = []
  for (const change of changes) made.push(changed(made.at(-1) ?? world, change))
  let wireUs = 0
  const start = cpuUs()
  for (const [i, { cmd }] of changes.entries()) {
    wire.expect(cmd === 'changeEndpoint' ? endpointType : routeType)
    const before = cpuUs()
    void show(made[i])
    await wire.untilSent()
    wireUs += cpuUs() - before
    await wire.untilAcked()
  }
  const count = changes.length
  return { wireUs: wireUs / count, ackedUs: (cpuUs() - start) / count }
}

/** Each change comes by itself, as events do, and as fast as they can. */
const burst = async ({ changes }) => {
  const published = []
  for (const change of changes) {
    published.push(show(changed(world, change)))
    await nextTurn()
  }
  await published.at(-1)
}

const commands = { world: begin, changes, burst, rusage: () => undefined }

say({ ...usage(), port: plane.port })
await answerLines(async (command) => {
  const answer = await commands[command.cmd](command)
  return { ...answer, ...usage() }
})
process.exit() // stdin has ended: nobody asks any more
