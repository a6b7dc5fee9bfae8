import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { RouteKey } from '../../../core/edge-route.js'
import { type HostPort, showHostPort } from '../../bootstrap.js'
import { type Arguments, type Command, valueOf } from '../command.js'
import { adminExample, adminOption } from '../options.js'
import { parseHostPort } from '../values.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import { printable } from './words.js'

/** What all commands that ask a running control plane have in common. */

export const routeOperand = {
  name: 'NAMESPACE/NAME',
  help: 'the route, as in default/checkout',
} as const

/** Where the control plane is asked. */
export const adminFrom = (command: Command, args: Arguments): Either<string, HostPort> =>
  parseHostPort('--admin', valueOf(command, args, adminOption.name) ?? '', 1, adminExample)

/** `--admin` for a command that is proposed, where it is needed; begins with a space. */
export const adminWords = (admin: HostPort): string => {
  const shown = showHostPort(admin)
  return shown === adminOption.fallback ? '' : ` --admin ${shown}`
}

export const parseRouteKey = (text: string): Either<string, RouteKey> => {
  const [namespace = '', name = '', ...more] = text.split('/')
  return namespace === '' || name === '' || more.length > 0
    ? E.left(`${printable(JSON.stringify(text))} should be NAMESPACE/NAME, as in default/checkout`)
    : E.right({ namespace, name })
}

/** Says why nothing was done. */
export const failed = (world: World, command: string, reason: string): ExitCode => {
  const lines = reason.split('\n').map(printable)
  world.err(`edgewright ${command}: ${lines.join('\n')}\n`)
  return exitCodes.failed
}
