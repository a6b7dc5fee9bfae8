import { median, pick } from '../stats.mjs'

const sizes = [100, 1_000, 10_000, 50_000]

/** What the plot shows: panels with lines through `[hosts, milliseconds]`. Most of it the rows have measured. */
export const curvesOf = async ({ sized, pathCosts, envoyCosts }) => {
  const counts = sizes.map(sized)
  const [ours, peer, one, many] = [[], [], [], []]
  for (const count of counts) {
    const [oursAt, peerAt] = await pathCosts(count)
    ours.push([count, msOf(oursAt, 'wireUs')])
    peer.push([count, msOf(peerAt, 'wireUs')])
    const [oneAt, manyAt] = await envoyCosts(count)
    one.push([count, msOf(oneAt.changes, 'mainUs')])
    many.push([count, msOf(manyAt.changes, 'mainUs')])
  }
  return [
    {
      title: 'CPU of the control plane for one changed path',
      lines: [
        { name: 'edgewright', points: ours },
        { name: 'Go peer', points: peer },
      ],
    },
    {
      title: 'CPU of Envoy’s main thread to take it in',
      lines: [
        { name: 'edgewright', points: many },
        { name: 'one table', points: one },
      ],
    },
  ]
}

const msOf = (samples, key) => Number((median(pick(samples, key)) / 1_000).toPrecision(4))
