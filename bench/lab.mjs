import { changedEndpoint, changedPath, startContender } from './contender.mjs'
import { inTurn, median, ratio } from './stats.mjs'

/** A world of so many routes, on a host each or all on one, over 1,000 backends, or one for each if there are fewer. */
export const world = (routes, form) => ({ routes, form, backends: Math.min(1_000, routes) })

/** Changes objects from all over a world, in turn. */
export const endpointChanges =
  ({ backends }) =>
  (i) =>
    changedEndpoint((i * stride) % backends)

export const pathChanges =
  ({ routes }) =>
  (i) =>
    changedPath((i * stride) % routes)

/** A prime, and no divisor of a round number. */
const stride = 7_919

/**
 * What one change costs several control planes, in turn: the samples of each. A contender is `[who, world, streams]`;
 * `changesOf` makes the changes of its world.
 */
export const changeCosts = (contenders, changesOf, runs) =>
  withContenders(contenders, async (running) => {
    for (const { world, warmUp } of running) await warmUp(changesOf(world))
    return inTurn(running, runs, ({ world, change }, run) => change(changesOf(world)(run)))
  })

/** Starts control planes, and stops them whatever happens. */
export const withContenders = async (contenders, use) => {
  const running = []
  try {
    for (const contender of contenders) running.push(await startContender(...contender))
    return await use(running)
  } finally {
    for (const { stop } of running) await stop()
  }
}

/** Compares the CPU of two by what it took until the change was on the wire. Says the rest, too. */
export const comparedCpu = (samples, others, [name, other]) => {
  const costs = (each, title) =>
    `${title} ${ms(each, 'wireUs')} ms (${ms(each, 'restUs')} until at rest)`
  return {
    value: ratio(pick(samples, 'wireUs'), pick(others, 'wireUs')),
    detail: `${costs(samples, name)}, ${costs(others, other)}`,
  }
}

export const pick = (samples, key) => samples.map((sample) => sample[key])

const ms = (samples, key) => (median(pick(samples, key)) / 1_000).toFixed(2)

/** Does the work when it is first asked for, and never again: rows of one measurement share it. */
export const once = (work) => {
  let result
  return () => (result ??= work())
}

/** As in `10,000`. */
export const show = (count) => count.toLocaleString('en')
