import { parseArgs } from 'node:util'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Arguments, Command, Option } from './command.js'
import { shellWord } from './admin/words.js'
import { nearest } from './nearest.js'

/** Parses what stands behind a command's name. Left names the argument, and what would be right. */
export const parseArguments = (
  command: Command,
  argv: ReadonlyArray<string>,
): Either<string, Arguments> => {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      command.options.map(({ name, value }) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const operands: Array<string> = []
  const values = new Map<string, ReadonlyArray<string>>()
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const value = checkOption(command, token)
    if (E.isLeft(value)) return value
    const before = values.get(token.name) ?? []
    if (before.length > 0 && takesOneValue(command, token.name))
      return E.left(`${token.rawName} is given twice`)
    values.set(token.name, [...before, value.right])
  }
  const wrong = wrongOperands(command, operands)
  return wrong === undefined ? E.right({ operands, values }) : E.left(wrong)
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

const checkOption = (command: Command, token: OptionToken): Either<string, string> => {
  const option = command.options.find(({ name }) => name === token.name)
  if (option === undefined) return E.left(unknownOption(command, token))
  if (option.value === undefined)
    return token.value === undefined ? E.right('true') : E.left(`${token.rawName} takes no value`)
  const swallowed = token.inlineValue !== true && token.value?.startsWith('-') === true
  return token.value === undefined || token.value === '' || swallowed
    ? E.left(`${token.rawName} needs a value: ${showOption(option)}`)
    : E.right(token.value)
}

/** A flag says the same however often it is given. */
const takesOneValue = ({ options }: Command, name: string): boolean =>
  options.some(
    (option) => option.name === name && option.value !== undefined && option.repeatable !== true,
  )

const unknownOption = (command: Command, { rawName }: OptionToken): string => {
  const operand = command.operands.find(({ isOption }) => `--${isOption}` === rawName)
  if (operand !== undefined)
    return `there is no option ${rawName}; say edgewright ${command.name} ${operand.name}`
  const known = command.options.map(({ name }) => `--${name}`)
  const meant = nearest(rawName, known)
  const hint =
    meant === undefined ? `the options are ${known.join(', ')}` : `did you mean ${meant}?`
  return `there is no option ${rawName}; ${hint}`
}

const wrongOperands = (
  { operands: wanted, options }: Command,
  given: ReadonlyArray<string>,
): string | undefined => {
  const missing = wanted[given.length]
  if (missing !== undefined) return `${missing.name} is missing: ${missing.help}`
  const extra = given[wanted.length]
  if (extra === undefined) return undefined
  const meant = options.find(({ isOperand }) => isOperand === true)
  const hint = meant === undefined ? '' : `; did you mean --${meant.name} ${shellWord(extra)}?`
  return `${JSON.stringify(extra)} is one argument too many${hint}`
}

/** As in `--xds HOST:PORT`. */
export const showOption = ({ name, value }: Option): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`
