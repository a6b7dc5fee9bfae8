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

/** Remembers what a pure function made of a text; of `limit` texts, the oldest makes room. */
export const memoizeText = <B>(f: (text: string) => B, limit: number): ((text: string) => B) => {
  const known = new Map<string, { readonly result: B }>()
  return (text) => {
    const hit = known.get(text)
    if (hit !== undefined) return hit.result
    const result = f(text)
    const [oldest] = known.keys()
    if (known.size >= limit && oldest !== undefined) known.delete(oldest)
    known.set(text, { result })
    return result
  }
}
