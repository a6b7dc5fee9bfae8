import * as E from 'fp-ts/lib/Either.js'
import { parseArguments } from './arguments.js'
import { bootstrapCommand } from './bootstrap.js'
import { checkCommand } from './check.js'
import type { Command } from './command.js'
import { demoCommand } from './demo/index.js'
import { commonOptions, showCommandHelp, showHelp } from './help.js'
import { nearest } from './nearest.js'
import { packageJson } from './package.js'
import { serveCommand } from './serve.js'
import { exitCodes, type ExitCode, type World } from './world.js'

const commands: ReadonlyArray<Command> = [serveCommand, bootstrapCommand, checkCommand, demoCommand]

/** Runs the program with the arguments that follow its name. */
export const edgewright = async (argv: ReadonlyArray<string>, world: World): Promise<ExitCode> => {
  const [first, ...rest] = argv
  if (first === undefined) return wrongUsage(world, 'edgewright', 'a command is missing')
  if (first === '--help' || first === '-h' || first === 'help') {
    world.out(showHelp(commands))
    return exitCodes.ok
  }
  if (first === '--version') {
    world.out(`${packageJson().version}\n`)
    return exitCodes.ok
  }
  const command = commands.find(({ name }) => name === first)
  return command === undefined
    ? wrongUsage(world, 'edgewright', unknownCommand(first))
    : runCommand(command, rest, world)
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
