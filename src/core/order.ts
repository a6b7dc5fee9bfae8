/**
 * Compares by UTF-16 code units: the same order in every process, whatever its locale.
 */
export const compareStrings = (a: string, b: string): -1 | 0 | 1 => (a < b ? -1 : a > b ? 1 : 0)
