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
   * Is part of the names of the parts that are made now. It is another one as soon as somebody may delete what was
   * made until then, this store or one that has found it: no name is made again once its deletion may be under way.
   */
  readonly generation: number
  /**
   * Whether it has written the head since it was read. Who has not does not know what else was written since: that may
   * be the last word of a predecessor.
   */
  readonly hasSaved: boolean
}

/** What a store knows that has neither read nor written anything. */
export const nothingHeld: Holding = {
  seen: undefined,
  parts: new Map(),
  leftovers: new Set(),
  tries: 0,
  settled: 0,
  generation: 0,
  hasSaved: false,
}

/**
 * What is known once a roster was read. What was tried before may still take effect, if nobody else has written; if
 * somebody has, what was made before may be deleted by them.
 */
export const holdingOf = (
  { seen, head, partNames }: Loaded,
  { tries, settled, generation }: Holding,
): Holding => ({
  seen,
  tries,
  settled,
  generation: generation + 1,
  hasSaved: false,
  ...sorted(head, partNames),
})

/** The next try to write the head begins. */
export const afterTry = (holding: Holding): Holding => ({ ...holding, tries: holding.tries + 1 })

/** The head was written. Nothing that was tried before fits to it, and all that it does not name may be deleted. */
export const afterHead = (holding: Holding, head: Head, seen: Seen): Holding => ({
  seen,
  tries: holding.tries,
  settled: holding.tries,
  generation: holding.generation + 1,
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

/** The head is another one, which is to be replaced: nothing is known of the parts, which its writer may delete. */
export const afterReplacement = (holding: Holding, seen: Seen | undefined): Holding => ({
  ...holding,
  seen,
  generation: holding.generation + 1,
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

/** The parts with these pieces may be gone, or hold something else: none is made again under the same name. */
export const afterDoubt = (holding: Holding, doubtful: ReadonlySet<Digest>): Holding => {
  const isDoubtful = ([digest]: readonly [Digest, string]): boolean => doubtful.has(digest)
  const names = [...holding.parts].filter(isDoubtful).map(([, name]) => name)
  return {
    ...holding,
    generation: holding.generation + 1,
    parts: new Map([...holding.parts].filter((part) => !isDoubtful(part))),
    leftovers: new Set([...holding.leftovers, ...names]),
  }
}

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
