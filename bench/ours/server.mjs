// Our control plane in a process of its own, with the commands of bench/peer/main.go.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answerLines, say } from '../lines.mjs'
import { startControlPlane } from './control-plane.mjs'
import { changed, worldOf } from './world.mjs'

const plane = await startControlPlane()
let world

const usage = () => {
  const { user, system } = process.cpuUsage()
  return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() }
}

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

/** Each change comes by itself, as events do, and as fast as they can. */
const burst = async ({ changes }) => {
  const published = []
  for (const change of changes) {
    published.push(show(changed(world, change)))
    await nextTurn()
  }
  await published.at(-1)
}

const commands = {
  world: begin,
  changeEndpoint: (change) => show(changed(world, change)),
  changePath: (change) => show(changed(world, change)),
  burst,
  rusage: () => undefined,
}

say({ ...usage(), port: plane.port })
await answerLines(async (command) => {
  const answer = await commands[command.cmd](command)
  return { ...answer, ...usage() }
})
process.exit() // stdin has ended: nobody asks any more
