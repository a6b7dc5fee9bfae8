import { forms, startTwoForms } from '../envoy/two-forms.mjs'
import { atLeast, atMost } from '../judge.mjs'
import { show, withAll } from '../lab.mjs'
import { withServedEnvoys } from '../measurements.mjs'
import { inTurn, median, pick, ratio } from '../stats.mjs'

/** For how long requests are sent for a sample, in milliseconds. */
const sampleMs = 400
/** How many hosts get requests at a time. */
const connections = 32

/** What a request costs a real Envoy. */
export const envoyRequestRows = ({ runs, sized }) => {
  const count = sized(10_000)
  return [
    {
      name: `requests/s for the last of ${show(count)} prefixes on one host`,
      goal: atLeast(25, 'times the list form'),
      measure: () =>
        withAll(startTwoForms, [[]], async ([envoy]) => {
          const { fragments } = await envoy.show(count, 'prefix + method')
          // The one that takes everything else comes last of all.
          const last = fragments.at(-2).path.value
          const [list, tree] = await inTurn(forms, runs, (form) => envoy.load(form, last, sampleMs))
          const words = (loads) =>
            `${show(Math.round(median(pick(loads, 'perSecond'))))}/s (${showUs(loads)})`
          return {
            value: ratio(pick(tree, 'perSecond'), pick(list, 'perSecond')),
            detail: `tree ${words(tree)}, list ${words(list)}`,
          }
        }),
    },
    {
      name: `worker CPU per request to an upstream, ${show(count)} hosts`,
      goal: atMost(1.15, 'times one table’s'),
      measure: () =>
        withServedEnvoys(count, async (envoys) => {
          const requests = Array.from({ length: connections }, (_, i) => ({
            host: `host-${i}.example.com`,
            path: `/r${i}`,
          }))
          const [one, many] = await inTurn(envoys, runs, ({ load }) => load(requests, sampleMs))
          return {
            value: ratio(pick(many, 'cpuUs'), pick(one, 'cpuUs')),
            detail: `shards ${showUs(many)}, one table ${showUs(one)}`,
          }
        }),
    },
  ]
}

const showUs = (loads) => `${median(pick(loads, 'cpuUs')).toFixed(1)} µs of its worker each`
