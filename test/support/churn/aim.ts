import type { Shot } from './load.js'
import type { Form, Plan } from './plan.js'
import { oneOf, prngOf } from './prng.js'

/** Of the requests: how many go to routes that never change, and how many to those that change about now. */
const stableShare = 0.25
const hotShare = 0.45
/** What counts as about now: the clusters of a change are on their way, or a delayed request waits for them. */
const stepsBehind = 12
const stepsAhead = 2
/** How many requests the fault filter delays. */
const delayedShare = 0.25

/** The forms of the slots that change: present, or the last that there was. */
export type LastForms = ReadonlyMap<number, Form>

/** Chooses what to ask for next; `progress` says how many steps are done. */
export const aimer = (
  { seed, stable, steps }: Plan,
  lastForms: LastForms,
  progress: { readonly steps: number },
): (() => Shot) => {
  const prng = prngOf(seed + 1)
  const changing = (): Form => {
    const at = progress.steps
    const hot = steps.slice(Math.max(0, at - stepsBehind), at + stepsAhead)
    const isHot = hot.length > 0 && prng() < hotShare / (1 - stableShare)
    const form = isHot ? lastForms.get(oneOf(prng, hot).slot) : undefined
    return form ?? oneOf(prng, [...lastForms.values()])
  }
  return () => ({
    prefix: (prng() < stableShare ? oneOf(prng, stable) : changing()).prefix,
    delayed: prng() < delayedShare,
  })
}
