import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Context } from '../../core/context.js'
import { defaultDataPlane } from '../../core/edge-route.js'
import { type Arguments, type Command, type Option, valueOf, valuesOf } from './command.js'
import { contextOf } from './values.js'

/** Options that several commands share. */

export const xdsOption: Option = {
  name: 'xds',
  value: 'HOST:PORT',
  fallback: '127.0.0.1:18000',
  help: 'where the control plane listens for Envoys',
}

export const dataPlaneOption: Option = {
  name: 'data-plane',
  value: 'NAME',
  fallback: defaultDataPlane,
  help: 'the fleet of Envoys, as routes and the Envoys themselves name it',
}

export const listenerOption: Option = {
  name: 'listener',
  value: '[NAME=]HOST:PORT',
  repeatable: true,
  fallback: 'http=0.0.0.0:10000',
  help: 'where the Envoys listen for HTTP',
}

/** What `--data-plane` and `--listener` say together. */
export const contextFrom = (command: Command, args: Arguments): Either<string, Context> => {
  const dataPlane = valueOf(command, args, dataPlaneOption.name) ?? defaultDataPlane
  const given = valuesOf(args, listenerOption.name)
  const fallback = listenerOption.fallback === undefined ? [] : [listenerOption.fallback]
  return contextOf(dataPlane, given.length > 0 ? given : fallback)
}

/** The value of an option that must be given. */
export const required = (args: Arguments, option: Option): Either<string, string> => {
  const value = valuesOf(args, option.name).at(-1)
  return value === undefined
    ? E.left(`--${option.name} ${option.value ?? ''} is missing: ${option.help}`)
    : E.right(value)
}
