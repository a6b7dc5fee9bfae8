import { RE2JS } from 're2js'
import { isProgram, maxByte, type Program, programSize, startsWith } from './regex/program.js'

/** The longest regex, in characters: what fits into `maxProgramSize` is shorter by far. */
export const maxRegexLength = 1024

/**
 * The largest program, in instructions. Envoy refuses those over 100 unless its runtime says otherwise
 * (`re2.max_program_size.error_level`). Of 4,000 random regexes `programSize` was below Envoy's own count
 * for 62, which repeat an alternative as in `x|x`, and near the limit by at most 4 per cent.
 */
const maxProgramSize = 90

/**
 * The sum of all counts in `{n,m}`. Each repetition is an instruction, so that more could never be
 * within `maxProgramSize`; compiling 100,000 of them first would take a second.
 */
const maxRepetitions = 100

/**
 * Says what keeps Envoy from taking a regex, or undefined if nothing does.
 *
 * The syntax is RE2's. Envoy compiles it over bytes (Latin-1), so that what can only match beyond one
 * byte is refused, by itself or because Envoy would refuse it: characters outside ASCII, `\x{100}`,
 * names of scripts.
 */
export const checkRegex = (pattern: string): string | undefined => {
  const compiled = compile(pattern)
  return typeof compiled === 'string' ? compiled : undefined
}

/** `checkRegex`, and that something that starts with `/` can match. */
export const checkPathRegex = (pattern: string): string | undefined => {
  const compiled = compile(pattern)
  if (typeof compiled === 'string') return compiled
  return startsWith(compiled, '/'.charCodeAt(0))
    ? undefined
    : 'never matches: it must match the whole path, which starts with "/"'
}

/** The program, or what is wrong. */
const compile = (pattern: string): Program | string => {
  if (pattern === '') return 'must not be empty'
  if (pattern.length > maxRegexLength)
    return `has ${pattern.length} characters: at most ${maxRegexLength}`
  const problem = notOverBytes(pattern)
  if (problem !== undefined) return problem
  const repetitions = sumOfRepetitions(pattern)
  if (repetitions > maxRepetitions)
    return `repeats ${repetitions} times: Envoy takes at most ${maxRepetitions}`
  const program = parse(pattern)
  if (typeof program === 'string') return program
  const size = programSize(program)
  return size <= maxProgramSize
    ? program
    : `is too complex, at ${size} instructions of at most ${maxProgramSize}: shorten it`
}

/** What re2js takes, and an RE2 over bytes refuses or understands otherwise. */
const notOverBytes = (pattern: string): string | undefined => {
  const odd = /[^\x20-\x7e]/.exec(pattern)?.[0]
  if (odd !== undefined)
    return `must be printable ASCII, and has ${JSON.stringify(odd)}: match its bytes, as in "\\xc3\\xa9"`
  for (const [escape, hex, octal, group] of pattern.matchAll(escapes)) {
    if (parseInt(hex ?? '0', 16) > maxByte || parseInt(octal ?? '0', 8) > maxByte)
      return `has ${escape}, which is more than one byte: at most \\xff`
    if (group !== undefined && !categories.has(group))
      return `has ${escape}, which no byte matches: use a category such as \\p{Lu}`
  }
  return undefined
}

/** Escapes from left to right, so that `\\` hides nothing: code points, octal digits, groups. */
const escapes = /\\(?:x\{([0-9A-Fa-f]+)\}|([0-7]{1,3})|[pP]\{\^?(\w+)\}|Q(?:.*?)(?:\\E|$)|.)/g

/** The general categories that RE2 knows, and its name for everything. */
const categories: ReadonlySet<string> = new Set(
  'Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs'.split(
    ' ',
  ),
)

const sumOfRepetitions = (pattern: string): number =>
  [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)]
    .map(([, least, most = '']) => Math.max(Number(least), Number(most)))
    .reduce((sum, count) => sum + count, 0)

const parse = (pattern: string): Program | string => {
  try {
    const program: unknown = RE2JS.compile(pattern).re2().prog
    return isProgram(program) ? program : 'cannot be checked'
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return `is not a regex in RE2 syntax: ${message.replace(/^error parsing regexp: /, '')}`
  }
}
