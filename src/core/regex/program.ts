/** The largest byte: what RE2 over Latin-1 knows of characters. */
export const maxByte = 0xff

/** A compiled regex: the form that RE2, Go and re2js share. */
export interface Program {
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

export const isProgram = (value: unknown): value is Program =>
  typeof value === 'object' && value !== null && 'inst' in value && 'start' in value

/** The operations of an instruction, as re2js numbers them. */
const op = {
  alt: 1,
  altMatch: 2,
  fail: 5,
  match: 6,
  nop: 7,
  anyRune: 10,
  anyButNewline: 11,
} as const
const isAlternative = ({ op: code }: Instruction): boolean =>
  code === op.alt || code === op.altMatch
const isRune = ({ op: code }: Instruction): boolean => code >= 8 && code <= op.anyButNewline
const isEnd = ({ op: code }: Instruction): boolean => code === op.fail || code === op.match

/** What goes before the program so that it can start anywhere, and the instruction that fails. */
const preamble = 3

/**
 * The size of a program once RE2 has compiled it over bytes and flattened it: a byte range is an
 * instruction, and so is a way of an alternative that leads to where others lead too.
 */
export const programSize = (program: Program): number => {
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
export const startsWith = (program: Program, byte: number): boolean => {
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
