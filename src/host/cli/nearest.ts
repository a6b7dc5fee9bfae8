/** A slip of the hand is one or two letters. */
const maxSlips = 2

/** The known word that was most probably meant, if one is near enough. */
export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  const ranked = known
    .map((each) => ({ each, slips: each.startsWith(word) ? 1 : editDistance(word, each) }))
    .sort((a, b) => a.slips - b.slips)
  const best = ranked[0]
  return best !== undefined && best.slips <= maxSlips ? best.each : undefined
}

/** How many letters have to be inserted, removed or replaced (Levenshtein); costs |a| × |b|. */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
