/** Chance that is the same each time: a generator of numbers with a seed. */
export interface Random {
  /** In [0, 1). */
  readonly next: () => number
  /** A whole number from 0 to one below `count`. */
  readonly below: (count: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(items: readonly [A, ...ReadonlyArray<A>]) => A
  /** Picks a key, each as often as its weight says. */
  readonly weighed: <K extends string>(weights: Readonly<Partial<Record<K, number>>>) => K
  /** Another generator: what is drawn from it does not touch this one. */
  readonly fork: () => Random
}

/** 32 bits of avalanche over a whole number (the finalizer of MurmurHash3). */
const mix = (value: number): number => {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const golden = 0x9e3779b9

/** Makes a generator. Its period of 2³² is far more than a run draws. */
export const randomOf = (seed: number): Random => {
  let state = mix(seed + golden)
  const whole = (): number => {
    state = (state + golden) | 0
    return mix(state)
  }
  const next = (): number => whole() / 2 ** 32
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] ?? items[0],
    weighed: (weights) => weighed(weights, next()),
    fork: () => randomOf(whole()),
  }
}

const weighed = <K extends string>(
  weights: Readonly<Partial<Record<K, number>>>,
  at: number,
): K => {
  const entries: Array<readonly [K, number]> = []
  for (const key in weights) {
    const weight: number = weights[key] ?? 0
    if (weight > 0) entries.push([key, weight])
  }
  let left = at * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [key, weight] of entries) {
    left -= weight
    if (left < 0) return key
  }
  const last = entries.at(-1)
  if (last === undefined) throw new Error('nothing to pick from')
  return last[0]
}
