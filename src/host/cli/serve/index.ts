import * as E from 'fp-ts/lib/Either.js'
import { type Arguments, type Command, valuesOf } from '../command.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import { readConfig } from './config-file.js'
import { mergeArguments } from './merge.js'
import { configOption, fileOptions, parseServe } from './options.js'
import { serve } from './run.js'

/** Serves routes to Envoys until it is asked to end. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'serve the routes of a directory or of a cluster to Envoys',
  description: `Serves EdgeRoutes to one fleet of Envoys, and follows their changes, until SIGINT,
SIGTERM or SIGHUP: the YAML files of a directory (--routes DIR), or the objects of
a Kubernetes cluster (--kubernetes). Logs go to the standard error.`,
  operands: [],
  options: [...fileOptions, configOption],
  prepare: (args) => {
    const [config] = valuesOf(args, configOption.name)
    return config === undefined
      ? E.Functor.map(parseServe(args), (options) => (world) => serve(options, world))
      : E.right((world) => serveAsConfigured(config, args, world))
  },
}

const serveAsConfigured = async (
  config: string,
  args: Arguments,
  world: World,
): Promise<ExitCode> => {
  const file = await readConfig(config, fileOptions)
  const options = E.Monad.chain(file, (given) => parseServe(mergeArguments(args, given)))
  if (E.isRight(options)) return serve(options.right, world)
  for (const line of options.left.split('\n')) world.err(`edgewright serve: ${line}\n`)
  if (E.isRight(file) && file.right.values.size === 0)
    world.err(`edgewright serve: ${config}: there is no option in this file\n`)
  return exitCodes.usage
}
