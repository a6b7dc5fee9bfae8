/** A source of numbers from 0 (included) to 1 (excluded). */
export type Prng = () => number

/** Mulberry32: 32 bits of state, the same numbers for the same seed, and good enough for tests. */
export const prngOf = (seed: number): Prng => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number from 0 to `below`, which is excluded. */
export const below = (prng: Prng, bound: number): number => Math.floor(prng() * bound)

/** One of a list; throws where it is empty. */
export const oneOf = <A>(prng: Prng, items: ReadonlyArray<A>): A => {
  const [picked] = items.slice(below(prng, items.length))
  if (picked === undefined) throw new Error('there is nothing to pick from')
  return picked
}
