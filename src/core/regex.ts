import { RE2JS } from 're2js'

/** The longest regex, in characters: what fits into `maxProgramSize` is shorter by far. */
const maxRegexLength = 1024

/**
 * The largest program, in instructions. Envoy refuses those over 100 unless its runtime says otherwise
 * (`re2.max_program_size.error_level`); `programSize` may be a few per cent below Envoy's own count.
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

const maxByte = 0xff

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

/** A compiled regex: the form that RE2, Go and re2js share. */
interface Program {
  readonly start: number
  readonly inst: ReadonlyArray<Instruction>
}

interface Instruction {
  readonly op: number
  readonly out: number
  /** The second way of an alternative; flags of a rune. */
  readonly arg: number
  /** Pairs of first and last, or a single one. */
  readonly runes: ArrayLike<number>
}

const isProgram = (value: unknown): value is Program =>
  typeof value === 'object' && value !== null && 'inst' in value && 'start' in value

/** The operations of an instruction, as re2js numbers them. */
const op = { alt: 1, altMatch: 2, fail: 5, match: 6, nop: 7, anyRune: 10, anyButNewline: 11 } as const
const isAlternative = ({ op: code }: Instruction): boolean => code === op.alt || code === op.altMatch
const isRune = ({ op: code }: Instruction): boolean => code >= 8 && code <= op.anyButNewline
const isEnd = ({ op: code }: Instruction): boolean => code === op.fail || code === op.match

/** What goes before the program so that it can start anywhere, and the instruction that fails. */
const preamble = 3

/**
 * The size of a program once RE2 has compiled it over bytes and flattened it: a byte range is an
 * instruction, and so is a way of an alternative that leads to where others lead too.
 */
const programSize = (program: Program): number => {
  const reached = reach(program)
  const isShared = (id: number): boolean => (reached.get(id) ?? 0) > 1
  let size = preamble
  for (const id of reached.keys()) {
    const instruction = at(program, id)
    if (isAlternative(instruction))
      size += [instruction.out, instruction.arg].filter((to) => isShared(skip(program, to))).length
    else size += isRune(instruction) ? byteRanges(instruction).length : 1
  }
  return size
}

/** How often each instruction is led to; twice at once where only a whole list can start there. */
const reach = (program: Program): ReadonlyMap<number, number> => {
  const reached = new Map<number, number>()
  const pending: Array<readonly [id: number, times: number]> = [[program.start, 2]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const id = skip(program, next[0])
    const seen = reached.get(id)
    reached.set(id, (seen ?? 0) + next[1])
    const instruction = at(program, id)
    if (seen !== undefined || isEnd(instruction)) continue
    if (isAlternative(instruction)) pending.push([instruction.out, 1], [instruction.arg, 1])
    else pending.push([instruction.out, 2])
  }
  return reached
}

/** The ranges of bytes that a rune stands for; RE2 folds letters of both cases into one. */
const byteRanges = (instruction: Instruction): ReadonlyArray<readonly [number, number]> => {
  const { runes } = instruction
  if (instruction.op === op.anyRune) return [[0, maxByte]]
  if (instruction.op === op.anyButNewline)
    return [
      [0, 9],
      [11, maxByte],
    ]
  const single = runes.length === 1
  const ranges: Array<readonly [number, number]> = []
  for (let index = 0; index < runes.length; index += 2) {
    const first = runes[index] ?? 0
    if (first <= maxByte) ranges.push([first, single ? first : (runes[index + 1] ?? first)])
  }
  return ranges.filter(([first, last]) => single || !isFolded(first, last, ranges))
}

const isFolded = (
  first: number,
  last: number,
  ranges: ReadonlyArray<readonly [number, number]>,
): boolean =>
  first >= 0x41 && last <= 0x5a && ranges.some(([a, b]) => a <= first + 0x20 && last + 0x20 <= b)

/** Whether a text that starts with this byte may match; assertions are taken to hold. */
const startsWith = (program: Program, byte: number): boolean => {
  const seen = new Set<number>()
  const pending = [program.start]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const instruction = at(program, id)
    if (seen.has(id) || isEnd(instruction)) continue
    seen.add(id)
    if (!isRune(instruction)) {
      pending.push(instruction.out)
      if (isAlternative(instruction)) pending.push(instruction.arg)
    } else if (byteRanges(instruction).some(([first, last]) => first <= byte && byte <= last))
      return true
  }
  return false
}

const failed: Instruction = { op: op.fail, out: 0, arg: 0, runes: [] }

const at = (program: Program, id: number): Instruction => program.inst[id] ?? failed

/** Past what does nothing. */
const skip = (program: Program, id: number): number => {
  const instruction = at(program, id)
  return instruction.op === op.nop ? skip(program, instruction.out) : id
}
