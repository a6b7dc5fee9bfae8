/** Puts items into an order that their keys alone decide, and that looks like none. */
export const byChance = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string,
): ReadonlyArray<A> =>
  items
    .map((item) => ({ item, rank: hash(keyOf(item)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)

/** FNV-1a over UTF-16 code units, then mixed so that the last unit reaches the highest bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1)
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  return (value ^ (value >>> 16)) >>> 0
}
