import type { Either } from 'fp-ts/lib/Either.js'
import type { Context } from '../../core/context.js'
import { defaultDataPlane } from '../../core/edge-route.js'
import { type Arguments, labelOf, type Option, valuesOf } from './command.js'
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

export const adminOption: Option = {
  name: 'admin',
  value: 'HOST:PORT',
  fallback: '127.0.0.1:18001',
  help: 'where the control plane, edgewright serve, answers to operators',
}

/** What `--admin` should be, for people. */
export const adminExample = 'HOST:PORT, as in 127.0.0.1:18001 or [::1]:18001'

export const outputFormats = ['text', 'json'] as const
export type OutputFormat = (typeof outputFormats)[number]

export const outputOption: Option = {
  name: 'output',
  value: outputFormats.join('|'),
  fallback: 'text',
  help: 'words for people, or JSON for programs',
}

/** The same option, for the one who answers. */
export const adminListenOption: Option = {
  ...adminOption,
  value: 'HOST:PORT|off',
  help: 'where the control plane answers to operators: explain, nodes, forget, break-glass',
}

export const rosterOption: Option = {
  name: 'roster',
  value: 'FILE',
  help: 'with --routes: keep the list of Envoys in this file (a cluster keeps its own), for the next start',
}

export const forgetNodeAfterOption: Option = {
  name: 'forget-node-after',
  value: 'DURATION',
  fallback: 'never',
  help: 'stop waiting for an Envoy that has been lost for so long, as in 72h',
}

/** What `--data-plane` and `--listener` say together. */
export const contextFrom = (args: Arguments): Either<string, Context> => {
  const dataPlane = valuesOf(args, dataPlaneOption.name).at(-1) ?? defaultDataPlane
  const given = valuesOf(args, listenerOption.name)
  const fallback = listenerOption.fallback === undefined ? [] : [listenerOption.fallback]
  return contextOf(dataPlane, given.length > 0 ? given : fallback, labelOf(args))
}
