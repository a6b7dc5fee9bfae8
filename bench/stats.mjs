/** The middle of some numbers; of an even count the mean of the two in the middle. Throws if there are none. */
export const median = (values) => {
  if (values.length === 0) throw new Error('nothing has no median')
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

/** One figure of each sample. */
export const pick = (samples, key) => samples.map((sample) => sample[key])

/** The median of the first over the median of the second: what both met with alike, as a slow machine, goes away. */
export const ratio = (values, others) => median(values) / median(others)

/**
 * Takes samples of several subjects in turn, so that each meets with the same noise: `runs` of each, and one before
 * that does not count. Resolves with the samples of each, in the order of the subjects.
 */
export const inTurn = async (subjects, runs, sample) => {
  const samples = subjects.map(() => [])
  for (let run = -1; run < runs; run++)
    for (const [i, subject] of subjects.entries()) {
      const taken = await sample(subject, run + 1)
      if (run >= 0) samples[i].push(taken)
    }
  return samples
}
