import { atMost } from '../judge.mjs'
import { ms, show, showMiB } from '../lab.mjs'
import { median, pick, ratio } from '../stats.mjs'

const what = 'Envoy main-thread CPU, one changed path'

/** What a change costs a real Envoy, with the tables that it gets in production, against one table for all hosts. */
export const envoyChangeRows = ({ sized, envoyCosts }) => {
  const [small, middle, large] = [100, 10_000, 50_000].map(sized)
  const cpuRow = (routes, limit) => ({
    name: `${what}, ${show(routes)} hosts`,
    goal: atMost(limit, 'of one table’s'),
    measure: async () => {
      const [one, many] = (await envoyCosts(routes)).map(({ changes }) => changes)
      return comparedMain(many, one, ['shards', 'one table'])
    },
  })
  return [
    cpuRow(middle, 1 / 20),
    cpuRow(large, 1 / 80),
    {
      name: `${what}, ${show(middle)} hosts against ${show(small)}`,
      goal: atMost(3, 'times'),
      measure: async () => {
        const [, { changes: atMiddle }] = await envoyCosts(middle)
        const [, { changes: atSmall }] = await envoyCosts(small)
        return comparedMain(atMiddle, atSmall, [show(middle), show(small)])
      },
    },
    {
      name: `change → Envoy serves it, ${show(middle)} hosts`,
      goal: atMost(1 / 10, 'of one table’s'),
      measure: async () => {
        const [one, many] = (await envoyCosts(middle)).map(({ servedMs }) => servedMs)
        const words = `shards ${median(many).toFixed(1)} ms, one table ${median(one).toFixed(1)} ms`
        return { value: ratio(many, one), detail: words }
      },
    },
    {
      name: `Envoy’s memory after changes, ${show(large)} hosts`,
      goal: atMost(1, 'of one table’s'),
      measure: async () => {
        const [one, many] = await envoyCosts(large)
        const rss = ({ changes }) => pick(changes, 'rssBytes')
        const words = (each) => `${showMiB(median(rss(each)))} (${showMiB(each.heapBytes)} in use)`
        return {
          value: ratio(rss(many), rss(one)),
          detail: `shards ${words(many)}, one table ${words(one)}`,
        }
      },
    },
  ]
}

const comparedMain = (samples, others, [name, other]) => ({
  value: ratio(pick(samples, 'mainUs'), pick(others, 'mainUs')),
  detail: `${name} ${ms(samples, 'mainUs')} ms, ${other} ${ms(others, 'mainUs')} ms`,
})
