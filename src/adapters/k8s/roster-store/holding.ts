import type { Digest } from '../../../core/digest.js'
import type { Head } from './head.js'
import type { Loaded } from './load.js'
import type { Seen } from './requests.js'

/** What a store knows of what is there. */
export interface Holding {
  /** The state of the head that it may replace; `undefined` if there is to be none. */
  readonly seen: Seen | undefined
  /** The parts that it can rely on, by what is in them: the head names them, or it has made them since. */
  readonly parts: ReadonlyMap<Digest, string>
  /** The names of the parts that may be there and that this head does not name. */
  readonly leftovers: ReadonlySet<string>
  /** How often it has tried to write the head. */
  readonly tries: number
  /** No try up to this one can take effect any more. */
  readonly settled: number
  /**
   * Whether it has written the head since it was read. Who has not does not know what else was written since: that may
   * be the last word of a predecessor.
   */
  readonly hasSaved: boolean
}

/** What is known once a roster was read. What was tried before may still take effect, if nobody else has written. */
export const holdingOf = (
  { seen, head, partNames }: Loaded,
  { tries, settled }: Pick<Holding, 'tries' | 'settled'>,
): Holding => ({ seen, tries, settled, hasSaved: false, ...sorted(head, partNames) })

/** The next try to write the head begins. */
export const afterTry = (holding: Holding): Holding => ({ ...holding, tries: holding.tries + 1 })

/** The head was written. Nothing that was tried before fits to it. */
export const afterHead = (holding: Holding, head: Head, seen: Seen): Holding => ({
  seen,
  tries: holding.tries,
  settled: holding.tries,
  hasSaved: true,
  ...sorted(head, [...holding.leftovers, ...holding.parts.values()]),
})

/** The head is in another state than was thought, by an earlier try of this store or in what does not matter. */
export const afterAdoption = (holding: Holding, seen: Seen): Holding => ({
  ...holding,
  seen,
  settled: holding.tries,
})

/** The head is gone: its parts may be gone, too. */
export const afterLoss = (holding: Holding): Holding => afterReplacement(holding, undefined)

/** The head is another one, which is to be replaced: nothing is known of the parts. */
export const afterReplacement = (holding: Holding, seen: Seen | undefined): Holding => ({
  ...holding,
  seen,
  parts: new Map(),
  leftovers: new Set([...holding.leftovers, ...holding.parts.values()]),
})

/** Parts of these names may be there from now on. */
export const beforeParts = (holding: Holding, names: ReadonlyArray<string>): Holding => ({
  ...holding,
  leftovers: new Set([...holding.leftovers, ...names]),
})

/** These parts are there. */
export const afterParts = (
  holding: Holding,
  made: ReadonlyArray<readonly [Digest, string]>,
): Holding => ({ ...holding, parts: new Map([...holding.parts, ...made]) })

/** Parts of these names are there no more. */
export const afterDeletion = (holding: Holding, names: ReadonlySet<string>): Holding => ({
  ...holding,
  leftovers: new Set([...holding.leftovers].filter((name) => !names.has(name))),
})

/** What a head names can be relied on; all else is left over. */
const sorted = (head: Head, names: ReadonlyArray<string>): Pick<Holding, 'parts' | 'leftovers'> => {
  const parts = new Map(
    head._tag === 'Whole' ? [] : head.parts.map(({ digest, name }) => [digest, name] as const),
  )
  const named = new Set(parts.values())
  return { parts, leftovers: new Set(names.filter((name) => !named.has(name))) }
}
