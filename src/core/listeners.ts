/** A set of listeners that are called together. */
export interface Listeners {
  readonly ring: () => void
  readonly listen: (listener: () => void) => () => void
}

/** No listeners, with room for any number. One that throws keeps the others from hearing. */
export const listeners = (): Listeners => {
  const all = new Set<{ readonly call: () => void }>()
  return {
    ring: () => {
      for (const { call } of [...all]) call()
    },
    listen: (call) => {
      const entry = { call }
      all.add(entry)
      return () => {
        all.delete(entry)
      }
    },
  }
}
