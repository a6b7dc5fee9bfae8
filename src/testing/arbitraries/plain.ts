/** Plain objects: one with a null prototype is never equal in a strict comparison. */
export const plain = { noNullPrototype: true } as const

/** Plain objects of which every field may be absent. */
export const allOptional: { readonly noNullPrototype: true; readonly requiredKeys: [] } = {
  noNullPrototype: true,
  requiredKeys: [],
}
