import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Context } from '../../core/context.js'
import { translate } from '../../core/translate.js'
import { type Command } from './command.js'
import { contextFrom, dataPlaneOption, listenerOption } from './options.js'
import { loadFiles } from './peers.js'
import { isRight, showReport } from './report.js'
import { exitCodes, type ExitCode, type World } from './world.js'

/** Says what would become of a directory of routes. */
export const checkCommand: Command = {
  name: 'check',
  summary: 'say what would become of a directory of routes, without serving it',
  description: `Reads a directory of YAML EdgeRoutes, translates them, and prints what would
become of each. Exits with 1 if a file cannot be read, a route is not valid or
in conflict, or there is none at all. A Service that is not known is a warning
only: it may be one of a cluster that the directory says nothing of.`,
  operands: [{ name: 'DIR', help: 'a directory of YAML files', isOption: 'routes' }],
  options: [listenerOption, dataPlaneOption],
  prepare: (args) =>
    pipe(
      contextFrom(args),
      E.map((context) => (world) => check(args.operands[0] ?? '', context, world)),
    ),
}

const check = async (directory: string, context: Context, world: World): Promise<ExitCode> => {
  const files = await loadFiles()
  if (E.isLeft(files)) {
    world.err(`edgewright check: ${files.left}\n`)
    return exitCodes.failed
  }
  const state = await files.right.readRoutesOnce(directory)()
  if (E.isLeft(state)) {
    world.err(`edgewright check: ${state.left.message}\n`)
    return exitCodes.failed
  }
  if (state.right.routes.length + state.right.problems.length === 0) {
    world.err(`edgewright check: there is no EdgeRoute in ${directory}\n`)
    return exitCodes.failed
  }
  const { routes, backends } = state.right
  const { verdicts } = translate(routes, { ...context, ...backends })
  const report = { problems: state.right.problems, verdicts: [...verdicts.values()] }
  world.out(showReport(report))
  return isRight(report) ? exitCodes.ok : exitCodes.failed
}
