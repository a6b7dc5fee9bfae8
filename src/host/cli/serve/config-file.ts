import { readFile } from 'node:fs/promises'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import { nearest, show } from '../../../core/codec/show.js'
import { type FieldError, showFieldError } from '../../../core/field-error.js'
import type { Arguments, Option } from '../command.js'
import { type FilesAdapter, loadFiles } from '../peers.js'

/** What a file says in place of options. */
export type GivenInFile = Required<Pick<Arguments, 'values' | 'placeOf'>>

/** The name of an option in a file: `forgetNodeAfter` for `forget-node-after`. */
export const fieldOf = ({ name }: Pick<Option, 'name'>): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Reads a file of options. Left says what is wrong, each line by itself, for people. */
export const readConfig = async (
  path: string,
  options: ReadonlyArray<Option>,
): Promise<Either<string, GivenInFile>> => {
  const files = await loadFiles()
  if (E.isLeft(files)) return files
  const text = await readFile(path, 'utf8').catch((cause: unknown) => new Error(whyUnread(cause)))
  return text instanceof Error
    ? E.left(`the file of --config cannot be read: ${path}: ${text.message}`)
    : parseConfig({ path, text }, options, files.right)
}

/** What people meet most often, in words; anything else as the system has it. */
const whyUnread = (cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOENT') return 'there is no such file; a relative path begins where this is called'
  if (code === 'EISDIR') return 'this is a directory'
  return String(cause)
}

/** Understands the text of a file of options: one field for each, and a list for one that may be repeated. */
export const parseConfig = (
  { path, text }: { readonly path: string; readonly text: string },
  options: ReadonlyArray<Option>,
  { readYamlText }: Pick<FilesAdapter, 'readYamlText'>,
): Either<string, GivenInFile> => {
  const complain = (errors: ReadonlyArray<FieldError>): Either<string, never> =>
    E.left(errors.map((error) => `${path}: ${showFieldError(error)}`).join('\n'))
  const yaml = readYamlText(text)
  if (E.isLeft(yaml)) return complain(yaml.left)
  const { value, locate } = yaml.right
  const decoded = decodeConfig(value, options)
  if (E.isLeft(decoded)) return complain(decoded.left.map(locate))
  const listed = new Map(options.map((option) => [option.name, option]))
  return E.right({
    values: decoded.right,
    placeOf: (name, index) => {
      const option = listed.get(name)
      if (option === undefined || !decoded.right.has(name)) return undefined
      const field = option.repeatable === true ? `${fieldOf(option)}[${index}]` : fieldOf(option)
      const { message: line } = locate({ path: field, message: '' })
      return `${path}: ${field}${line}:`
    },
  })
}

type Decoded = Either<ReadonlyArray<FieldError>, ReadonlyMap<string, ReadonlyArray<string>>>

const decodeConfig = (value: unknown, options: ReadonlyArray<Option>): Decoded => {
  if (value === undefined) return E.right(new Map())
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return E.left([{ path: '', message: `must be an object with options, not ${show(value)}` }])
  const known = new Map(options.map((option) => [fieldOf(option), option]))
  const errors: Array<FieldError> = []
  const values = new Map<string, ReadonlyArray<string>>()
  for (const [field, given] of Object.entries(value)) {
    const option = known.get(field)
    if (option === undefined) {
      errors.push(unknownField(field, [...known.keys()]))
      continue
    }
    const texts = textsOf(field, given, option)
    if (E.isLeft(texts)) errors.push(...texts.left)
    else if (texts.right.length > 0) values.set(option.name, texts.right)
  }
  return errors.length > 0 ? E.left(errors) : E.right(values)
}

const unknownField = (field: string, known: ReadonlyArray<string>): FieldError => {
  const meant = nearest(field.replaceAll(/[-_]/g, ''), known)
  const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`
  return { path: field, message: `is no option: ${hint}` }
}

/** The value as the command line would have it: a flag that is off has none. */
const textsOf = (
  field: string,
  given: unknown,
  { value, repeatable }: Option,
): Either<ReadonlyArray<FieldError>, ReadonlyArray<string>> => {
  const wrong = (message: string): Either<ReadonlyArray<FieldError>, never> =>
    E.left([{ path: field, message }])
  if (value === undefined) {
    if (typeof given === 'boolean') return E.right(given ? ['true'] : [])
    return wrong(`must be true or false, not ${show(given)}`)
  }
  if (repeatable !== true) {
    const message = wrongText(given, value)
    return message === undefined ? E.right([String(given)]) : wrong(message)
  }
  if (!Array.isArray(given)) return wrong(`must be a list, not ${show(given)}`)
  const errors = given.flatMap((item: unknown, index) => {
    const message = wrongText(item, value)
    return message === undefined ? [] : [{ path: `${field}[${index}]`, message }]
  })
  return errors.length > 0 ? E.left(errors) : E.right(given.map(String))
}

const wrongText = (given: unknown, expected: string): string | undefined => {
  if (given === '') return `must not be empty: ${expected}, or leave it out`
  if (typeof given === 'string') return undefined
  if (expected === 'COUNT' && typeof given === 'number') return undefined
  const isOneWord = /^[A-Z]+$/.test(expected)
  const isName = isOneWord && expected !== 'DURATION'
  return isName && (typeof given === 'number' || typeof given === 'boolean')
    ? `must be a string: write "${show(given)}" in quotes`
    : `must be ${isOneWord ? 'one ' : ''}${expected}, a string, not ${show(given)}`
}
