import * as E from 'fp-ts/lib/Either.js'
import { RE2JS, RE2JSSyntaxException } from 're2js'
import { isProgram, programSize } from '../../../../core/regex/program.js'
import { memoizeText } from '../memo.js'

/** How many regexes are kept compiled: more than a test's tables hold at once, a few MiB at most. */
const keptRegexes = 1_000

/** The largest program that Envoy takes by default (`re2.max_program_size.error_level`). */
const maxProgramSize = 100

/**
 * Compiles RE2 syntax, each text once; `Left` is what Envoy 1.40 says when it refuses it.
 *
 * Of a program's size Envoy's own count may be somewhat larger than ours, in its words and near its
 * limit.
 */
export const readRegex: (text: string) => E.Either<string, RE2JS> = memoizeText((text) => {
  try {
    const regex = RE2JS.compile(text)
    const program: unknown = regex.re2().prog
    const size = isProgram(program) ? programSize(program) : 0
    return size <= maxProgramSize ? E.right(regex) : E.left(showTooLarge(text, size))
  } catch (error) {
    return E.left(error instanceof RE2JSSyntaxException ? showSyntax(error) : String(error))
  }
}, keptRegexes)

const showTooLarge = (text: string, size: number): string =>
  `regex '${text}' RE2 program size of ${size} > max program size of ${maxProgramSize} set for the ` +
  'error level threshold. Increase configured max program size if necessary.'

const showSyntax = (error: RE2JSSyntaxException): string => {
  const [what, where] = [error.getDescription(), error.getPattern()]
  return `${inRe2.get(what) ?? what}${where === null ? '' : `: ${where}`}`
}

/** What RE2 calls the errors that re2js calls otherwise, as Go does. */
const inRe2: ReadonlyMap<string, string> = new Map([
  ['missing closing ]', 'missing ]'],
  ['missing closing )', 'missing )'],
  ['trailing backslash at end of expression', 'trailing \\'],
  ['missing argument to repetition operator', 'no argument for repetition operator'],
  ['invalid nested repetition operator', 'bad repetition operator'],
  ['invalid repeat count', 'invalid repetition size'],
  ['invalid or unsupported Perl syntax', 'invalid perl operator'],
  ['invalid named capture', 'invalid named capture group'],
])
