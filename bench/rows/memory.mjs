import { pathChanges } from '../changes.mjs'
import { atMost } from '../judge.mjs'
import { changeCosts, pick, show, world } from '../lab.mjs'
import { median, ratio } from '../stats.mjs'

/** The memory of a control plane at work: after each of some changes, with one stream. */
export const memoryRows = ({ runs, sized }) => {
  const routes = sized(50_000)
  return [
    {
      name: `RSS of the control plane, ${show(routes)} routes served`,
      goal: atMost(1, 'of the Go peer’s'),
      measure: async () => {
        const of = world(routes, 'hosts')
        const contenders = [
          ['ours', of],
          ['peer', of],
        ]
        const samples = await changeCosts(contenders, pathChanges, runs)
        const [ours, peer] = samples.map((each) => pick(each, 'rssBytes'))
        return { value: ratio(ours, peer), detail: `ours ${showMiB(ours)}, peer ${showMiB(peer)}` }
      },
    },
  ]
}

const showMiB = (bytes) => `${(median(bytes) / 2 ** 20).toFixed(0)} MiB`
