/**
 * Remembers what a pure function made of an object, for as long as that object lives.
 *
 * Encoded resources are shared and never change, so each is decoded once, however many requests or
 * clients read it.
 */
export const memoize = <A extends object, B>(f: (input: A) => B): ((input: A) => B) => {
  const known = new WeakMap<A, { readonly result: B }>()
  return (input) => {
    const hit = known.get(input)
    if (hit !== undefined) return hit.result
    const result = f(input)
    known.set(input, { result })
    return result
  }
}
