/**
 * Runs one item at a time: one that comes while another one runs waits until that is done.
 *
 * For a state whose events may be brought forth by its own effects: an observer that publishes, a
 * stream that breaks as it is written to.
 *
 * Guarantees: items run in the order in which they come, before the call of the first of them
 * returns; none is lost where another one throws. What an item throws reaches its own caller: by the
 * call where it ran at once, by `onThrow` where it waited and its caller has gone on.
 *
 * Assumes that `onThrow` does not throw. No more items wait than are brought forth in one turn.
 */
export const inTurn = <A>(
  run: (item: A) => void,
  onThrow: (item: A, error: unknown) => void,
): ((item: A) => void) => {
  const waiting: Array<() => void> = []
  let busy = false
  const later = (item: A) => (): void => {
    try {
      run(item)
    } catch (error) {
      onThrow(item, error)
    }
  }
  return (item) => {
    if (busy) {
      waiting.push(later(item))
      return
    }
    busy = true
    try {
      run(item)
    } finally {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) next()
      busy = false
    }
  }
}
