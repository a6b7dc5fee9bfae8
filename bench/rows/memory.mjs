import { atMost } from '../judge.mjs'
import { show, showMiB } from '../lab.mjs'
import { median, pick, ratio } from '../stats.mjs'

/** The memory of a control plane at work: after each of some changes, with one stream. */
export const memoryRows = ({ sized, pathCosts }) => {
  const routes = sized(50_000)
  return [
    {
      name: `RSS of the control plane, ${show(routes)} routes served`,
      goal: atMost(1, 'of the Go peer’s'),
      measure: async () => {
        const [ours, peer] = (await pathCosts(routes)).map((each) => pick(each, 'rssBytes'))
        return {
          value: ratio(ours, peer),
          detail: `ours ${showMiB(median(ours))}, peer ${showMiB(median(peer))}`,
        }
      },
    },
  ]
}
