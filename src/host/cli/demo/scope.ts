/** Undoes what was set up, in reverse order, however the work ends. */
export interface Scope {
  /** Remembers how to undo what was just done. */
  readonly defer: (undo: () => Promise<void>) => void
}

/** Runs work that sets things up, and undoes them all before it settles. */
export const withScope = async <A>(work: (scope: Scope) => Promise<A>): Promise<A> => {
  const undos: Array<() => Promise<void>> = []
  try {
    return await work({ defer: (undo) => void undos.push(undo) })
  } finally {
    const failures: Array<unknown> = []
    for (const undo of undos.reverse()) await undo().catch((cause: unknown) => failures.push(cause))
    if (failures.length > 0) process.emitWarning(`not all was undone: ${failures.join('; ')}`)
  }
}
