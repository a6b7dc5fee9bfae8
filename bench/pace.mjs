/** A sample is made of as many changes as take so much CPU together, so that the clock's grain does not matter. */
const sampleUs = 40_000
const maxChanges = 20

/** Whoever is measured has made so many changes before, if there is time. */
const warmUpChanges = 2_000

/**
 * Says how many changes a sample takes, by what they have cost so far: `costOf` a sample is what one of them did. No
 * warm-up lasts longer than `warmUpMs`.
 */
export const startPace = (costOf, warmUpMs) => {
  let [made, size] = [0, 1]
  const changes = (nextChange) => Array.from({ length: size }, () => nextChange(made++))
  const note = (sample) => {
    size = Math.max(1, Math.min(maxChanges, Math.ceil(sampleUs / costOf(sample))))
    return sample
  }
  return {
    /** The changes of the next sample. */
    changes,
    /** Learns from a sample, and gives it back. */
    note,
    warmUp: async (nextChange, take) => {
      const start = performance.now()
      while (made < warmUpChanges && performance.now() - start < warmUpMs)
        note(await take(changes(nextChange)))
    },
  }
}
