// Saves ever new rosters to a file, with the built package, until it is killed. One line out for each
// save that has succeeded: how many nodes it had.
import { filesRosterStore } from '../../dist/adapters/files/roster-store.js'

const [path] = process.argv.slice(2)
const store = filesRosterStore({ path })
const { right: begun } = await store.load()()
const roster = new Map(begun)
for (;;) {
  const id = `envoy-${roster.size}-${'x'.repeat(200)}`
  roster.set(id, { id, cluster: 'edge', sinceMs: 0, isShared: false, doubts: {} })
  const saved = await store.save(roster)()
  if (saved._tag === 'Left') throw new Error(saved.left.message)
  process.stdout.write(`${roster.size}\n`)
}
