/** Calls back once when a signal aborts, unless the returned function is called before. */
export type OnAbort = (signal: AbortSignal, callback: () => void) => () => void

interface Listening {
  readonly callbacks: Set<() => void>
  readonly stop: () => void
}

/**
 * Makes one that puts a single listener on each signal, however many ask: of the eleventh, Node
 * would warn.
 */
export const abortTeller = (): OnAbort => {
  const listening = new WeakMap<AbortSignal, Listening>()
  const listen = (signal: AbortSignal): Listening => {
    const callbacks: Listening['callbacks'] = new Set()
    const tell = (): void => {
      for (const callback of [...callbacks]) callback()
    }
    signal.addEventListener('abort', tell, { once: true })
    const made = { callbacks, stop: () => signal.removeEventListener('abort', tell) }
    listening.set(signal, made)
    return made
  }
  return (signal, callback) => {
    const { callbacks, stop } = listening.get(signal) ?? listen(signal)
    callbacks.add(callback)
    return () => {
      callbacks.delete(callback)
      if (callbacks.size > 0) return
      stop()
      listening.delete(signal)
    }
  }
}
