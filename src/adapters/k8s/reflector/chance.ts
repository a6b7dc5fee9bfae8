/** Where a sequence of random numbers stands: a 32-bit integer other than zero. */
export type Seed = number

/** A seed out of any number. Numbers that lie close together give sequences that do not. */
export const seedOf = (entropy: number): Seed => {
  const mixed = Math.imul((entropy ^ 0x9e3779b9) | 0, 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 15)) >>> 0 || 1
}

/** A number in [0, 1), and where the sequence stands after it. (Marsaglia's xorshift, 32 bits: for spreading load.) */
export const draw = (seed: Seed): readonly [chance: number, next: Seed] => {
  let bits = seed
  bits ^= bits << 13
  bits ^= bits >>> 17
  bits ^= bits << 5
  const next = bits >>> 0
  return [next / 2 ** 32, next]
}
