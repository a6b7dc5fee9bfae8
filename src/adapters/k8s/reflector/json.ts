/** Any object of JSON but a list. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

/** A field of an object that is one itself; an empty one where it is not there. */
export const objectIn = (value: unknown, key: string): JsonObject => {
  const field = isObject(value) ? value[key] : undefined
  return isObject(field) ? field : {}
}

/** A field that is a string and not empty. */
export const textIn = (value: JsonObject, key: string): string | undefined => {
  const field = value[key]
  return typeof field === 'string' && field !== '' ? field : undefined
}
