import { startContender } from './contender.mjs'
import { inTurn, median, pick, ratio } from './stats.mjs'

/** A world of so many routes, on a host each or all on one, over 1,000 backends, or one for each if there are fewer. */
export const world = (routes, form) => ({ routes, form, backends: Math.min(1_000, routes) })

/**
 * What one change costs several control planes, in turn: the samples of each. A contender is `[who, world, options]`;
 * `changeOf(run, world)` makes the changes of its world.
 */
export const changeCosts = (contenders, changeOf, runs) =>
  withAll(startContender, contenders, (running) => sampleInTurn(running, changeOf, runs))

/** Warms all up, and takes samples of each in turn. */
export const sampleInTurn = async (running, changeOf, runs) => {
  const changesOf =
    ({ world }) =>
    (run) =>
      changeOf(run, world)
  for (const each of running) await each.warmUp(changesOf(each))
  return inTurn(running, runs, (each) => each.sample(changesOf(each)))
}

/** Starts one for each list of arguments, and stops them all, whatever happens. */
export const withAll = async (start, all, use) => {
  const running = []
  try {
    for (const each of all) running.push(await start(...each))
    return await use(running)
  } finally {
    for (const { stop } of running) await stop()
  }
}

/** Compares the CPU of two by what it took until the change was on the wire. Says the rest, too. */
export const comparedCpu = (samples, others, [name, other]) => {
  const costs = (each, title) =>
    `${title} ${ms(each, 'wireUs')} ms (${ms(each, 'ackedUs')} with its ACKs, ${ms(each, 'restUs')} until at rest)`
  return {
    value: ratio(pick(samples, 'wireUs'), pick(others, 'wireUs')),
    detail: `${costs(samples, name)}, ${costs(others, other)}`,
  }
}

/** The median in milliseconds of what is in microseconds. */
export const ms = (samples, key) => (median(pick(samples, key)) / 1_000).toFixed(2)

/** Does the work when it is first asked for, and never again: rows of one measurement share it. */
export const once = (work) => {
  let result
  return () => (result ??= work())
}

/** As in `10,000`. */
export const show = (count) => count.toLocaleString('en')

export const showMiB = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`
