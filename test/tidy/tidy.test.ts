import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

interface SourceFile {
  readonly path: string
  readonly code: string
  /** Packages by their names, files of ours relative to `src`. */
  readonly imports: ReadonlyArray<string>
  readonly lines: ReadonlyArray<string>
}

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g

const readSource = (path: string): SourceFile => {
  const text = readFileSync(`src/${path}`, 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  const imports = [...code.matchAll(importPattern)].map(([, spec = '']) =>
    spec.startsWith('.') ? normalize(join(dirname(path), spec)) : spec,
  )
  return { path, code, imports, lines: text.split('\n') }
}

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('gen/'))
  .map(readSource)

const fpTs = /^fp-ts\/lib\/\w+\.js$/
const node = /^node:/
const shared = [/^core\//, /^gen\//, /^ports\//, fpTs, /^io-ts$/]

/** What the files below a folder may import from outside it: the first folder that fits counts. */
const layers: ReadonlyArray<readonly [folder: string, allowed: ReadonlyArray<RegExp>]> = [
  ['core/', [/^gen\//, fpTs, /^io-ts$/, /^re2js$/]],
  ['ports/', [/^core\//, fpTs]],
  ['adapters/xds/', [...shared, node, /^@grpc\/grpc-js$/, /^@bufbuild\/protobuf\/wire$/]],
  ['adapters/memory/', [...shared, /^re2js$/]],
  ['adapters/files/', [...shared, node, /^yaml$/]],
  ['adapters/k8s/', [...shared, node, /^@kubernetes\/client-node$/]],
  ['host/cli/', [...shared, node, /^host\//, /^adapters\/\w+\/index\.js$/]],
  ['host/', [...shared, node]],
  ['testing/', [...shared, node, /^host\/(?!cli\/)/, /^adapters\/memory\//, /^fast-check$/]],
  ['index.ts', [/^core\//, /^ports\//]],
]

/** `createHash` only: synchronous, and without ambient state. */
const exceptions = new Set(['core/digest.ts → node:crypto'])

const strangersOf = ({ path, imports }: SourceFile): ReadonlyArray<string> => {
  const layer = layers.find(([folder]) => path.startsWith(folder))
  if (layer === undefined) return [`${path} lies in no layer`]
  const [folder, allowed] = layer
  return imports
    .filter((spec) => !spec.startsWith(folder) && !allowed.some((pattern) => pattern.test(spec)))
    .map((spec) => `${path} → ${spec}`)
    .filter((edge) => !exceptions.has(edge))
}

test.each(sources)('$path imports only what its layer may', (source) => {
  expect(strangersOf(source)).toEqual([])
})

const ambient =
  /\b(Date\.now|new Date\(\)|performance\.|Math\.random|randomUUID|set(Timeout|Interval|Immediate)|queueMicrotask|process\.|console\.|fetch\(|localeCompare|toLocale\w+|Intl\.|async |await |Promise)/

test.each(sources.filter(({ path }) => path.startsWith('core/')))(
  '$path reads no clock and no chance, and waits for nothing',
  ({ code }) => {
    expect(code).not.toMatch(ambient)
  },
)

test.each(sources.filter(({ path }) => !path.startsWith('host/cli/')))(
  '$path leaves the process to its host: no exit, signal, environment or console',
  ({ code }) => {
    expect(code).not.toMatch(/\bprocess\.(exit|on|once|env|argv|stdout|stderr|kill)|\bconsole\./)
  },
)

test.each(sources)(
  '$path has no default export, enum, namespace, and silences no type',
  ({ code }) => {
    expect(code).not.toMatch(/^export default|^(export )?(const )?enum |^(export )?namespace /m)
    expect(code).not.toMatch(/\bas any\b|: any\b|@ts-(ignore|nocheck|expect-error)/)
  },
)

/** A file over this wants a folder. The longest is a protocol table, or a list of options. */
const maxLines = 300
const maxColumns = 120

test.each(sources)('$path is short enough to be read at once', ({ lines }) => {
  expect(lines.length).toBeLessThanOrEqual(maxLines)
  const long = lines.filter((line) => line.length > maxColumns)
  expect(long.filter((line) => !/from '/.test(line))).toEqual([])
})

test('a stray import is seen, in whatever form it is written', () => {
  const planted = (code: string): SourceFile => ({
    path: 'core/planted.ts',
    code,
    imports: [...code.matchAll(importPattern)].map(([, spec = '']) =>
      spec.startsWith('.') ? normalize(join('core', spec)) : spec,
    ),
    lines: [],
  })
  for (const code of [
    `import '../adapters/xds/index.js'`,
    `import { x } from '../ports/logger.js'`,
    `export * from "node:fs"`,
    `import type { A } from 'fp-ts/Either'`,
    `const x = import('../host/index.js')`,
  ])
    expect(strangersOf(planted(code))).toHaveLength(1)
})
