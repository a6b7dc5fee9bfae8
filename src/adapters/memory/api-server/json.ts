/** Any object but a list. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** Whether a list or an object, which is never a date or the like in JSON, has this field of its own. */
export const hasField = (value: object, key: string): boolean => Object.hasOwn(value, key)

/** Compares JSON; the order of fields does not matter. */
export const isSameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, i) => isSameJson(item, b[i]))
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => hasField(b, key) && isSameJson(a[key], b[key]))
  )
}

/**
 * What is left of a value that is sent as JSON and read again, frozen to its last field: nobody shares
 * anything with it. Throws where JSON cannot say it, as of a cycle.
 */
export const sentJson = (value: unknown): unknown =>
  value === undefined ? undefined : freeze(JSON.parse(JSON.stringify(value)))

/** Freezes JSON to its last field. */
export const freeze = <A>(value: A): A => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(freeze)
  return Object.freeze(value)
}
