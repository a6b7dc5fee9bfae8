// Which services there are stands in services.json, in a form of our own.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeEdgeRoute, type Logger, showFieldError, type SourceState } from 'edgewright'

type Services = Readonly<Record<string, { path: string; host: string; port: number }>>

/** Says what routes the services want. Throws if anything is wrong: then what was served goes on. */
const readServices = (text: string): SourceState => {
  const services = JSON.parse(text) as Services
  const routes = Object.entries(services).map(([name, { path, host, port }]) => {
    const decoded = decodeEdgeRoute({
      apiVersion: 'net.10xdev.io/v1',
      kind: 'EdgeRoute',
      metadata: { namespace: 'services', name },
      spec: { matches: [{ path: { prefix: path } }], backends: [{ address: { host, port } }] },
    })
    if (decoded._tag === 'Left') throw new Error(decoded.left.map(showFieldError).join('; '))
    return decoded.right.route
  })
  return { routes, problems: [] }
}

/** Looks at the file four times a second. A service that has left it is a route that was deleted. */
export const watchServices =
  (logger: Logger) =>
  async (onState: (state: SourceState) => void, signal: AbortSignal): Promise<void> => {
    for (let last = ''; !signal.aborted; await sleep(250)) {
      const text = await readFile('services.json', 'utf8')
      if (text === last) continue
      last = text
      try {
        onState(readServices(text))
      } catch (cause) {
        logger.log('error', 'services.json cannot be read', { cause: String(cause) })
      }
    }
  }
