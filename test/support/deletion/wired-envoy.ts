import type { Variant } from 'edgewright'
import { startTestEnvoy, type TestEnvoy, type TestEnvoyOptions } from '../envoy.js'
import { layWire, type Wire } from '../wire.js'

/** An Envoy behind a wire of its own. */
export interface DeletionEnvoy extends TestEnvoy {
  readonly variant: Variant
  readonly wire: Wire
  /** The port of the listener. */
  readonly port: (listener?: string) => Promise<number>
  /** Stops the process where it stands (SIGSTOP), and lets it go on. */
  readonly pause: () => void
  readonly resume: () => void
  /** Ends it without a word (SIGKILL). */
  readonly kill: () => Promise<void>
}

export type RigEnvoyOptions = Omit<TestEnvoyOptions, 'xds'>

/** Starts one with two workers, which dials what `target` says at the time, and waits until it is live. */
export const startBehindWire = async (
  options: RigEnvoyOptions,
  target: Parameters<typeof layWire>[0],
): Promise<DeletionEnvoy> => {
  const wire = await layWire(target)
  const envoy = await startTestEnvoy({ xds: wire.address, concurrency: 2, ...options })
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(envoy.pid, signal)
    } catch {
      return // it is dead already
    }
  }
  return {
    ...envoy,
    variant: options.variant,
    wire,
    port: async (name = 'http') => {
      const address = (await envoy.listeners()).get(name)
      if (address === undefined) throw new Error(`there is no listener ${name}`)
      return Number(address.slice(address.lastIndexOf(':') + 1))
    },
    pause: () => send('SIGSTOP'),
    resume: () => send('SIGCONT'),
    kill: async () => {
      send('SIGKILL')
      await envoy.exited
    },
    stop: async () => {
      await envoy.stop()
      await wire.stop()
    },
  }
}
