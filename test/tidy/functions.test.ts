import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'

/** A function over this wants to be several, in lines, from its parameters to its end. */
const maxLines = 40

/** By the file and the name: why it is longer. */
const exceptions: ReadonlyMap<string, string> = new Map([
  [
    'core/xds/flush.ts send',
    'what a response is made of, and every reason not to send it, in their order',
  ],
  ['core/xds/plan.ts unreadyClusters', 'one pass over the clusters into three sets'],
  [
    'core/xds/run-fleet.ts runFleet',
    'the only loop over the state of all streams, with the face that it shows to servers',
  ],
])

interface Measured {
  /** As in `core/xds/flush.ts send`. */
  readonly name: string
  readonly lines: number
}

/** Those functions of a file that are too long; functions within them count as their lines, and by themselves. */
const longFunctions = (path: string, code: string): ReadonlyArray<Measured> => {
  const file = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true)
  const found: Array<Measured> = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineAt(file, node.end) - lineAt(file, node.getStart(file)) + 1
      if (lines > maxLines) found.push({ name: `${path} ${nameOf(node)}`, lines })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

const lineAt = (file: ts.SourceFile, position: number): number =>
  file.getLineAndCharacterOfPosition(position).line

/** What a function is called, be it only by what it is given to. */
const nameOf = (node: ts.Node): string => {
  const { name } = node as ts.NamedDeclaration
  if (name !== undefined) return name.getText()
  return ts.isSourceFile(node.parent) ? 'without a name' : nameOf(node.parent)
}

const measured = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('gen/'))
  .flatMap((path) => longFunctions(path, readFileSync(`src/${path}`, 'utf8')))

test(`no function has more than ${maxLines} lines, but for those with a reason`, () => {
  expect(measured.filter(({ name }) => !exceptions.has(name))).toEqual([])
})

test('there is no exception for what is short enough by now', () => {
  const long = new Set(measured.map(({ name }) => name))
  expect([...exceptions.keys()].filter((name) => !long.has(name))).toEqual([])
})

const longCode = (head: string, tail = '}'): string =>
  [head, ...Array.from({ length: maxLines - 1 }, (_, i) => `  step(${i})`), tail].join('\n')

test.each([
  ['an arrow', longCode('const planted = (a: number): void => {')],
  ['a function', longCode('function planted() {')],
  ['one within an object', longCode('const all = { planted: async () => {', '}}')],
  ['a method', longCode('const all = { planted() {', '}}')],
  ['one that is given to a call', longCode('const planted = inTurn(() => {', '})')],
])('a function that is too long is seen: %s', (_, code) => {
  expect(longFunctions('x.ts', code)).toEqual([{ name: 'x.ts planted', lines: maxLines + 1 }])
})

test('a function of just so many lines is not too long', () => {
  const lines = longCode('const planted = () => {').split('\n')
  expect(longFunctions('x.ts', [...lines.slice(0, -2), '}'].join('\n'))).toEqual([])
})
