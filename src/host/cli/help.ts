import type { Command, Option } from './command.js'
import { showOption } from './arguments.js'

/** Every command has these. */
export const commonOptions: ReadonlyArray<Option> = [{ name: 'help', help: 'print this' }]

/** The help of one command. */
export const showCommandHelp = (command: Command): string => {
  const operands = command.operands.map(({ name, help }) => [name, help] as const)
  const options = [...command.options, ...commonOptions].map(
    (option) => [showOption(option), describe(option)] as const,
  )
  const usage = ['edgewright', command.name, ...command.operands.map(({ name }) => name)]
  return [
    `Usage: ${usage.join(' ')} [options]`,
    '',
    command.description,
    '',
    ...table([...operands, ...options]),
    '',
  ].join('\n')
}

/** The help of the program. */
export const showHelp = (commands: ReadonlyArray<Command>): string =>
  [
    'Usage: edgewright COMMAND [options]',
    '',
    'A control plane for Envoy.',
    '',
    ...table(commands.map(({ name, summary }) => [name, summary] as const)),
    '',
    ...table([
      ['--help, -h', 'print this; behind a command, what that takes'],
      ['--version, -v', 'print the version'],
    ]),
    '',
    'edgewright COMMAND --help tells more.',
    'Exit codes: 0 done, 1 failed or not valid, 2 wrong usage.',
    '',
  ].join('\n')

const describe = ({ help, fallback, repeatable }: Option): string =>
  [
    help,
    repeatable === true ? '; may be given several times' : '',
    fallback === undefined ? '' : ` (default: ${fallback})`,
  ].join('')

const table = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
