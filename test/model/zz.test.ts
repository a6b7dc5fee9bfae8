import { test } from 'vitest'
import { play, type Plan, type Action } from './fleet-world.js'
const cases: ReadonlyArray<readonly [Plan, ReadonlyArray<Action>]> = [
 [{"traits":{"refusing":true,"slow":false,"variant":"sotw"},"envoys":[{"variant":"sotw","seed":0,"dislikes":[2],"dislikesBackend":0}]},[{"_tag":"Publish","world":[{"id":0,"path":0,"backend":3,"spice":0}]},{"_tag":"Deliver","choices":[0,0,0,0,0,0]},{"_tag":"Publish","world":[{"id":0,"path":1,"backend":4,"spice":2},{"id":1,"path":0,"backend":3,"spice":2},{"id":2,"path":2,"backend":3,"spice":0}]}]],
 [{"traits":{"refusing":true,"slow":false,"variant":"delta"},"envoys":[{"variant":"delta","seed":0,"dislikes":[],"dislikesBackend":0}]},[{"_tag":"Deliver","choices":[0]},{"_tag":"Publish","world":[{"id":0,"path":0,"backend":0,"spice":0}]},{"_tag":"Deliver","choices":[0,0,0,7,0]},{"_tag":"Reconnect","envoy":0},{"_tag":"Publish","world":[{"id":0,"path":0,"backend":1,"spice":0}]}]],
] as never
test.each([0,1])('trace %s', (n) => {
  const c = cases[n]!
  const f = play(c[0], (l) => console.log(l))
  for (const a of c[1]) { console.log(JSON.stringify(a).slice(0,100)); f.act(a) }
  try { f.rest() } catch (e) { console.log(String(e)) }
  console.log(f.missing())
})
