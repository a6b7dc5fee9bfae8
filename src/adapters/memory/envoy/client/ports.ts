import { listenerType } from '../../../../core/type-url.js'
import { inspect } from './inspect.js'
import { allListeners, type Listeners } from './listeners.js'
import type { ReceivedResource } from './messages.js'

/**
 * Makes the check that a listener's address passes, to be asked for each changed listener of one
 * response in order. A socket that the Envoy has already, if only of a listener that drains, is
 * taken over.
 */
export const addressCheck = (
  listeners: Listeners,
  removed: ReadonlyArray<string>,
  isBusy: (port: number) => boolean,
): ((resource: ReceivedResource) => string | undefined) => {
  const sockets = new Set<string>()
  const owners = new Map<string, string>()
  const gone = new Set(removed)
  for (const [name, { bytes }] of allListeners(listeners)) {
    const at = addressOf(bytes)?.shown
    if (at === undefined) continue
    sockets.add(at)
    if (name !== undefined && !gone.has(name)) owners.set(at, name)
  }
  return ({ name, bytes }) => {
    const address = addressOf(bytes)
    if (address === undefined) return undefined
    const { shown, port } = address
    if ((owners.get(shown) ?? name) !== name) return showTwice(name, shown)
    if (!sockets.has(shown) && isBusy(port)) return `cannot bind '${shown}': Address already in use`
    owners.set(shown, name)
    sockets.add(shown)
    return undefined
  }
}

const addressOf = (bytes: Uint8Array) => {
  const address = inspect(listenerType, bytes).address
  if (address === undefined || address.port === 0) return undefined
  return { shown: `${address.address}:${address.port}`, port: address.port }
}

const showTwice = (name: string, address: string): string =>
  `error adding listener: '${name}' has duplicate address '${address}' as existing listener, ` +
  'to check if the listener has duplicated addresses with other listeners or ' +
  "'enable_reuse_port' is set to 'false' for the listener"
