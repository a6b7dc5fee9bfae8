/** A resource version as a number; `undefined` if it is none. */
export const parseResourceVersion = (text: string): number | undefined =>
  /^\d{1,15}$/.test(text) ? Number(text) : undefined

/**
 * Compares resource versions of one server: decimal numbers of any length without leading zeros, of
 * which the greater is the later one.
 */
export const compareResourceVersions = (a: string, b: string): number =>
  a.length === b.length ? (a < b ? -1 : a > b ? 1 : 0) : a.length - b.length
