import { join } from 'node:path'
import { edgewright } from '../../src/host/cli/edgewright.js'
import { filesIn } from './cli.js'
import { eventually } from './envoy.js'

/** `serve` in this process. */
export interface Serving {
  /** The path of its kubeconfig. */
  readonly kubeconfig: string
  readonly log: () => string
  /** Where Envoys connect. */
  readonly xdsPort: () => Promise<number>
  /** Asks it to end, and returns its exit code. */
  readonly stop: () => Promise<number>
  /** Its exit code, once it has ended by itself or was stopped. */
  readonly ended: Promise<number>
  /** Stops it, and leaves nothing behind. Whoever starts it calls this. */
  readonly dispose: () => Promise<void>
}

export interface ServingOptions {
  /** As YAML. */
  readonly kubeconfig: string
  /** What follows `serve --kubernetes --xds …`. */
  readonly argv: ReadonlyArray<string>
  /** Beside its `KUBECONFIG`. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs `serve --kubernetes` in this process, until it is stopped. */
export const startServing = ({ argv, env, ...options }: ServingOptions): Serving => {
  const { directory, dispose } = filesIn({ config: options.kubeconfig })
  const kubeconfig = join(directory, 'config')
  const stopping = new AbortController()
  let err = ''
  const ended = edgewright(['serve', '--kubernetes', '--xds', '127.0.0.1:0', ...argv], {
    out: () => undefined,
    err: (text) => void (err += text),
    color: false,
    env: { ...env, KUBECONFIG: kubeconfig },
    signal: stopping.signal,
  })
  const log = () => err
  const listening = /listening for Envoys xds=127\.0\.0\.1:(\d+)/
  const stop = (): Promise<number> => {
    stopping.abort()
    return ended
  }
  return {
    kubeconfig,
    log,
    xdsPort: async () =>
      Number(listening.exec(await eventually(log, (text) => listening.test(text)))?.[1]),
    stop,
    ended,
    dispose: async () => {
      await stop()
      dispose()
    },
  }
}
