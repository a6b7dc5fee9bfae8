/** True for equal contents; at once where they are shared. */
export const sameBytes = (a: Uint8Array | undefined, b: Uint8Array): boolean =>
  a === b || (a?.length === b.length && a.every((byte, index) => byte === b[index]))
