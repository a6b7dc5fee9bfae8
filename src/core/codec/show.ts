/** How much of a value a message shows, in UTF-16 code units: enough to find it again. */
const maxShownLength = 40

/** A value in a message: strings in quotes and cut short, objects and lists by their kind. */
export const show = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(cut(value))
    case 'number':
    case 'boolean':
    case 'bigint':
      return cut(String(value))
    case 'undefined':
      return 'nothing'
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
  }
}

/** A list of choices, as in `exact, prefix or regex`. */
export const either = (names: ReadonlyArray<string>): string =>
  names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} or ${names.slice(-1).join('')}`

/** The nearest of some names to a misspelt one, if any is near. */
export const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  if (name.length > maxShownLength) return undefined
  let best: string | undefined
  let bestDistance = Math.min(maxDistance, Math.floor(name.length / 2)) + 1
  for (const candidate of known) {
    const away = distance(name.toLowerCase(), candidate.toLowerCase())
    if (away < bestDistance) [best, bestDistance] = [candidate, away]
  }
  return best ?? known.find((candidate) => sharesStem(name, candidate))
}

/** Two slips of the finger. */
const maxDistance = 2

/** `host` for `hostnames`. */
const sharesStem = (name: string, candidate: string): boolean =>
  name.length >= 3 && (candidate.startsWith(name) || name.startsWith(candidate))

const cut = (value: string): string =>
  value.length <= maxShownLength
    ? value
    : `${value.slice(0, maxShownLength).replace(/[\uD800-\uDBFF]$/, '')}…`

/** Levenshtein's distance, with a swap of neighbours as one step. */
const distance = (a: string, b: string): number => {
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          (row[j - 1] ?? 0) + 1,
          (last[j] ?? 0) + 1,
          (last[j - 1] ?? 0) + change,
          swapped ? (beforeLast[j - 2] ?? Infinity) + 1 : Infinity,
        ),
      )
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length] ?? 0
}
