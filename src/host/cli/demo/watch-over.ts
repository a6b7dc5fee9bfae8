import type { Proxy } from './stage.js'

/**
 * Does the work until what it works with breaks; a failure shows what the Envoy has logged.
 *
 * Settles only after the work has: whoever tears the proxy down then takes it from nobody.
 */
export const watchOver = async (
  proxy: Pick<Proxy, 'broken' | 'log'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const stop = new AbortController()
  const working = work(AbortSignal.any([signal, stop.signal]))
  try {
    await Promise.race([working, proxy.broken])
  } catch (cause) {
    const log = proxy.log()
    if (log === '') throw cause
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${message}\n\nThe log of Envoy:\n${log}`, { cause })
  } finally {
    stop.abort()
    // Where it is what failed, that is told above; an end that we asked for is no failure.
    await working.catch(() => undefined)
  }
}
