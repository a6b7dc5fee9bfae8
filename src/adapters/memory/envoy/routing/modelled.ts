/** A generated message: enough of it to know its name and its defaults. */
interface MessageType<M extends object> {
  readonly $type: string
  readonly decode: (bytes: Uint8Array) => M
}

/**
 * Makes a check that fails when a message says more than `fields`.
 *
 * A model that passes over what it does not know would call wrong configuration right. So every field
 * is either evaluated, or named as one that cannot change an answer, or an error.
 */
export const modelled = <M extends object>(
  type: MessageType<M>,
  fields: ReadonlyArray<keyof M & string>,
): ((message: M) => void) => {
  const known: ReadonlySet<string> = new Set(fields)
  const defaults = new Map<string, unknown>(Object.entries(type.decode(new Uint8Array())))
  const typeName = type.$type.slice(type.$type.lastIndexOf('.') + 1)
  return (message) => {
    for (const [field, value] of Object.entries(message))
      if (!known.has(field) && !isUnset(value, defaults.get(field)))
        notModelled(`${typeName}.${field}`)
  }
}

/**
 * Throws: the in-memory Envoy would have to guess.
 *
 * An exception, and not an answer, because no test of routing may take it for a miss.
 */
export const notModelled = (what: string): never => {
  throw new Error(`not modelled: ${what}`)
}

/** A map's default is an empty object; a message's default is none at all. */
const isUnset = (value: unknown, initial: unknown): boolean => {
  if (value === undefined || value === initial) return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  return isEmptyObject(initial) && isEmptyObject(value)
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0
