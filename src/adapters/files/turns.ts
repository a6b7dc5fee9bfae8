/** Work that can be done in pieces. */
export type Pieces<A> = Generator<undefined, A, undefined>

/** How long work may hold the event loop in one turn, apart from the piece that it is at. */
const sliceMs = 10

/** Does all pieces at once. */
export const atOnce = <A>(pieces: Pieces<A>): A => {
  for (;;) {
    const piece = pieces.next()
    if (piece.done === true) return piece.value
  }
}

/** Does work, some of it in each turn of the event loop. Nothing comes of it where `isStopped`. */
export type InTurns = <A>(pieces: Pieces<A>) => Promise<A | undefined>

/**
 * Shares out the turns of the event loop: in each of them, one of all works goes on, for `sliceMs`
 * and the rest of a piece. In between, the process does what else it has to do.
 */
export const turnsOf = (isStopped: () => boolean): InTurns => {
  let last: Promise<void> = Promise.resolve()
  const turn = (): Promise<void> => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
  return async (pieces) => {
    for (;;) {
      await turn()
      if (isStopped()) return undefined
      const endMs = performance.now() + sliceMs
      do {
        const piece = pieces.next()
        if (piece.done === true) return piece.value
      } while (performance.now() < endMs)
    }
  }
}
