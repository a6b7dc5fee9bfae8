import type { Either } from 'fp-ts/lib/Either.js'
import type { ExitCode, World } from './world.js'

/** One command of the command line, from which its parser and its help are made. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What it does, for its own help. */
  readonly description: string
  readonly operands: ReadonlyArray<Operand>
  readonly options: ReadonlyArray<Option>
  /** Understands the arguments: right is what is to be run, left says what is wrong with them. */
  readonly prepare: (args: Arguments) => Either<string, Action>
}

export type Action = (world: World) => Promise<ExitCode>

/** An argument that is given by its place; always required. */
export interface Operand {
  /** As in `DIR`. */
  readonly name: string
  readonly help: string
  /** The option, without the dashes, with which other commands take the same: people mix them up. */
  readonly isOption?: string
}

export interface Option {
  /** Without the dashes. */
  readonly name: string
  /** What stands for its value in the help, as in `HOST:PORT`; a flag has none. */
  readonly value?: string
  readonly repeatable?: boolean
  /** Other commands take the same by its place: people mix them up. */
  readonly isOperand?: boolean
  /** The value where it is not given, for the help. */
  readonly fallback?: string
  readonly help: string
}

/** The arguments of a command, all of them known to it. */
export interface Arguments {
  readonly operands: ReadonlyArray<string>
  /** Option → its values in order; a flag has the value `true`. */
  readonly values: ReadonlyMap<string, ReadonlyArray<string>>
  /** What to call a value of an option that was not given as one, in complaints: its place in a file. */
  readonly placeOf?: (option: string, index: number) => string | undefined
}

/** What to call a value of an option in complaints: `--xds`, or where else it stands. */
export type LabelOf = (option: string, index?: number) => string

export const labelOf =
  ({ placeOf }: Pick<Arguments, 'placeOf'>): LabelOf =>
  (option, index = 0) =>
    placeOf?.(option, index) ?? `--${option}`

/** The value of an option that is no repeatable one, its fallback if absent. */
export const valueOf = (command: Command, args: Arguments, name: string): string | undefined =>
  args.values.get(name)?.at(-1) ?? command.options.find((option) => option.name === name)?.fallback

/** All values of a repeatable option. */
export const valuesOf = (args: Arguments, name: string): ReadonlyArray<string> =>
  args.values.get(name) ?? []

export const hasFlag = (args: Arguments, name: string): boolean => args.values.has(name)
