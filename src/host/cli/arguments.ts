import { parseArgs } from 'node:util'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Arguments, Command, Option } from './command.js'
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
    values.set(token.name, [...(values.get(token.name) ?? []), value.right])
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

const unknownOption = (command: Command, { rawName }: OptionToken): string => {
  const known = command.options.map(({ name }) => `--${name}`)
  const meant = nearest(rawName, known)
  const hint =
    meant === undefined ? `the options are ${known.join(', ')}` : `did you mean ${meant}?`
  return `there is no option ${rawName}; ${hint}`
}

const wrongOperands = (
  { operands: wanted }: Command,
  given: ReadonlyArray<string>,
): string | undefined => {
  const missing = wanted[given.length]
  if (missing !== undefined) return `${missing.name} is missing: ${missing.help}`
  const extra = given[wanted.length]
  return extra === undefined ? undefined : `${JSON.stringify(extra)} is one argument too many`
}

/** As in `--xds HOST:PORT`. */
export const showOption = ({ name, value }: Option): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`
