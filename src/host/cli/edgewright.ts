import * as E from 'fp-ts/lib/Either.js'
import { parseArguments } from './arguments.js'
import { bootstrapCommand } from './bootstrap.js'
import { breakGlassCommand } from './break-glass.js'
import { checkCommand } from './check.js'
import type { Command } from './command.js'
import { demoCommand } from './demo/index.js'
import { explainCommand } from './explain.js'
import { forgetCommand } from './forget.js'
import { commonOptions, showCommandHelp, showHelp } from './help.js'
import { nearest } from './nearest.js'
import { nodesCommand } from './nodes.js'
import { packageJson } from './package.js'
import { serveCommand } from './serve/index.js'
import { uninstallCommand } from './uninstall.js'
import { exitCodes, type ExitCode, type World } from './world.js'

const commands: ReadonlyArray<Command> = [
  serveCommand,
  bootstrapCommand,
  checkCommand,
  demoCommand,
  explainCommand,
  nodesCommand,
  forgetCommand,
  breakGlassCommand,
  uninstallCommand,
]

/** Runs the program with the arguments that follow its name. */
export const edgewright = async (argv: ReadonlyArray<string>, world: World): Promise<ExitCode> => {
  const [first, ...rest] = argv
  if (first === undefined) return wrongUsage(world, 'edgewright', 'a command is missing')
  if (first === '--help' || first === '-h' || first === 'help') return help(rest, world)
  if (first === '--version' || first === '-v') {
    world.out(`${packageJson().version}\n`)
    return exitCodes.ok
  }
  const command = commandOf(first)
  return command === undefined
    ? wrongUsage(world, 'edgewright', unknownCommand(first))
    : runCommand(command, rest, world)
}

const commandOf = (word: string): Command | undefined => commands.find(({ name }) => name === word)

/** The help of the program, or of the command that is named behind it. */
const help = ([about]: ReadonlyArray<string>, world: World): ExitCode => {
  if (about === undefined) {
    world.out(showHelp(commands))
    return exitCodes.ok
  }
  const command = commandOf(about)
  if (command === undefined) return wrongUsage(world, 'edgewright', unknownCommand(about))
  world.out(showCommandHelp(command))
  return exitCodes.ok
}

const runCommand = async (
  command: Command,
  argv: ReadonlyArray<string>,
  world: World,
): Promise<ExitCode> => {
  if (argv.includes('--help') || argv.includes('-h')) {
    world.out(showCommandHelp(command))
    return exitCodes.ok
  }
  const withCommon = { ...command, options: [...command.options, ...commonOptions] }
  const action = E.Monad.chain(parseArguments(withCommon, argv), command.prepare)
  return E.isLeft(action)
    ? wrongUsage(world, `edgewright ${command.name}`, action.left)
    : action.right(world)
}

const unknownCommand = (word: string): string => {
  const known = commands.map(({ name }) => name)
  const meant = nearest(word, known)
  const hint =
    meant === undefined ? `the commands are ${known.join(', ')}` : `did you mean ${meant}?`
  return `there is no command ${JSON.stringify(word)}; ${hint}`
}

const wrongUsage = (world: World, program: string, message: string): ExitCode => {
  world.err(`${program}: ${message}\nSee ${program} --help\n`)
  return exitCodes.usage
}
