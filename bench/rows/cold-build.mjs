import { coldBuild } from '../control-plane.mjs'
import { atMost } from '../judge.mjs'
import { show, world } from '../lab.mjs'
import { inTurn, median, pick, ratio } from '../stats.mjs'

/** From all routes to a snapshot that streams are served from, each time in a new process. */
export const coldBuildRows = ({ runs, sized }) => {
  const routes = sized(50_000)
  return [
    {
      name: `cold build, ${show(routes)} routes`,
      goal: atMost(1, 'of the Go peer’s time'),
      measure: async () => {
        const of = world(routes, 'hosts')
        const taken = await inTurn(['ours', 'peer'], runs, (who) => coldBuild(who, of))
        const [ours, peer] = taken.map((samples) => pick(samples, 'ms'))
        const [oursUs, peerUs] = taken.map((samples) => median(pick(samples, 'cpuUs')))
        return {
          value: ratio(ours, peer),
          detail: `ours ${showMs(median(ours), oursUs)}, peer ${showMs(median(peer), peerUs)}`,
        }
      },
    },
  ]
}

const showMs = (ms, cpuUs) => `${ms.toFixed(0)} ms (CPU ${(cpuUs / 1_000).toFixed(0)} ms)`
