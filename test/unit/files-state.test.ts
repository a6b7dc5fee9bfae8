import { expect, test } from 'vitest'
import type { FileDocument, Reading } from '../../src/adapters/files/reading.js'
import {
  type FilesEffect,
  type FilesState,
  initial,
  MAX_REMEMBERED,
  PATIENCE_MS,
  QUIET_MS,
  step,
} from '../../src/adapters/files/state.js'
import type { SourceState } from '../../src/ports/route-source.js'

type Files = Readonly<Record<string, Reading>>

const valid = (document: number, name: string, code = 200): FileDocument => ({
  _tag: 'Valid',
  document,
  key: { namespace: 'shop', name },
  spec: { respond: { code } },
})
const invalid = (document: number | undefined, name?: string): FileDocument => ({
  _tag: 'Invalid',
  document,
  key: name === undefined ? undefined : { namespace: 'shop', name },
  errors: [{ path: 'spec', message: 'is wrong' }],
})
const parsed = (...documents: ReadonlyArray<FileDocument>): Reading => ({
  _tag: 'Parsed',
  documents,
  broken: false,
})
const broken = (...documents: ReadonlyArray<FileDocument>): Reading => ({
  _tag: 'Parsed',
  documents,
  broken: true,
})
const unreadable: Reading = { _tag: 'Unreadable', message: 'cannot be read: permission denied' }

/** A machine with a directory before it; scans take no time. */
const directoryOf = (files: Files) => {
  let state: FilesState = initial
  let published: SourceState = { routes: [], problems: [] }
  const take = ([next, effects]: readonly [FilesState, ReadonlyArray<FilesEffect>]) => {
    state = next
    for (const effect of effects) if (effect._tag === 'Publish') published = effect.state
    return effects.map((effect) => effect._tag)
  }
  const scan = (nowMs: number, now: Files, gaps: ReadonlyArray<{ path: string }> = []) =>
    take(
      step(state, {
        _tag: 'Scanned',
        startedAtMs: nowMs,
        endedAtMs: nowMs,
        files: new Map(Object.entries(now)),
        gaps: gaps.map(({ path }) => ({ path, message: 'cannot be read' })),
      }),
    )
  const vanish = (nowMs: number) =>
    take(step(state, { _tag: 'DirectoryUnreadable', nowMs, message: 'no such directory' }))
  scan(0, files)
  return {
    scan,
    vanish,
    published: () => published,
    names: () => published.routes.map((route) => route.metadata.name),
    codes: () => published.routes.map((route) => route.spec.respond?.code),
    problems: () =>
      published.problems.map(({ where, keepsLastGood }) => [where, keepsLastGood] as const),
  }
}

test('a directory that cannot be read at the very start is given up', () => {
  const [state, effects] = step(initial, {
    _tag: 'DirectoryUnreadable',
    nowMs: 0,
    message: 'no such directory',
  })
  expect(state).toBe(initial)
  expect(effects).toEqual([{ _tag: 'GiveUp', message: 'no such directory' }])
})

test('the first scan publishes, also when there is nothing', () => {
  expect(
    step(initial, {
      _tag: 'Scanned',
      startedAtMs: 0,
      endedAtMs: 0,
      files: new Map(),
      gaps: [],
    })[1],
  ).toEqual([{ _tag: 'Publish', state: { routes: [], problems: [] } }])
})

test('an object has its name as its uid, no age, and generation 1', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  expect(directory.published().routes.map(({ metadata }) => metadata)).toEqual([
    { namespace: 'shop', name: 'x', uid: 'file:shop/x', generation: 1, finalizers: [] },
  ])
})

test('a removal counts after the quiet time and a second scan, and not before', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  expect(directory.scan(1_000, {})).toEqual(['ScanAgain'])
  expect(directory.scan(1_000 + QUIET_MS - 1, {})).toEqual(['ScanAgain'])
  expect(directory.names()).toEqual(['x'])
  expect(directory.scan(1_000 + QUIET_MS, {})).toEqual(['Publish'])
  expect(directory.names()).toEqual([])
})

test('one scan alone removes nothing, however late it comes', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  expect(directory.scan(1_000_000, {})).toEqual(['ScanAgain'])
  expect(directory.names()).toEqual(['x'])
})

test('the quiet time runs from the end of the first scan to the beginning of the second', () => {
  const x = parsed(valid(1, 'x'))
  const scan = (state: FilesState, startedAtMs: number, endedAtMs: number, files: Files) =>
    step(state, {
      _tag: 'Scanned',
      startedAtMs,
      endedAtMs,
      files: new Map(Object.entries(files)),
      gaps: [],
    })
  const [first] = scan(initial, 0, 0, { 'a.yaml': x })
  const [second, effects] = scan(first, 1_000, 1_400, {})
  expect(effects).toEqual([{ _tag: 'ScanAgain', atMs: 1_400 + QUIET_MS }])
  const tooEarly = scan(second, 1_400 + QUIET_MS - 1, 1_400 + 2 * QUIET_MS, {})[1]
  expect(tooEarly.map(({ _tag }) => _tag)).toEqual(['ScanAgain'])
})

test('an object that reappears in time was never gone', () => {
  const x = parsed(valid(1, 'x'))
  const directory = directoryOf({ 'a.yaml': x })
  const [before] = directory.published().routes
  directory.scan(1_000, {})
  expect(directory.scan(1_100, { 'a.yaml': x })).toEqual([])
  expect(directory.scan(1_000 + QUIET_MS, {})).toEqual(['ScanAgain'])
  expect(directory.scan(1_000 + QUIET_MS + 1, { 'a.yaml': x })).toEqual([])
  expect(directory.published().routes[0]).toBe(before)
})

test('another change begins the quiet time anew, but not for ever', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  let nowMs = 1_000
  directory.scan(nowMs, { 'b.yaml': parsed(valid(1, 'y', 200)) })
  for (let change = 1; change <= 9; change += 1) {
    nowMs += 200
    directory.scan(nowMs, { 'b.yaml': parsed(valid(1, 'y', 200 + change)) })
    expect(directory.names()).toEqual(['x', 'y'])
  }
  directory.scan(1_000 + PATIENCE_MS, { 'b.yaml': parsed(valid(1, 'y', 300)) })
  expect(directory.names()).toEqual(['y'])
})

test('an object that moves to another file keeps its place and its identity', () => {
  const x = parsed(valid(1, 'x'))
  const directory = directoryOf({ 'b.yaml': x })
  const [before] = directory.published().routes
  directory.scan(1_000, {})
  expect(directory.scan(1_200, { 'a.yaml': x })).toEqual(['ScanAgain'])
  expect(directory.scan(1_200 + QUIET_MS, { 'a.yaml': x })).toEqual([])
  expect(directory.published().routes).toEqual([before])
  expect(directory.published().routes[0]).toBe(before)
})

test.each<[string, Reading]>([
  ['cannot be read', unreadable],
  ['is not YAML', broken(invalid(1))],
  ['has the object in an invalid form', parsed(invalid(1, 'x'), valid(2, 'y'))],
  ['has an invalid document without a name in its place', parsed(invalid(1), valid(2, 'y'))],
  ['ends in an invalid document of another name', parsed(valid(1, 'x'), invalid(2, 'z'))],
])('a file that %s keeps the last good form of its objects', (_, reading) => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), valid(2, 'y')) })
  expect(directory.scan(1_000, { 'a.yaml': reading })).toEqual(['Publish'])
  expect(directory.scan(10_000, { 'a.yaml': reading })).toEqual([])
  expect(directory.scan(20_000, { 'a.yaml': reading })).toEqual([])
  expect(directory.names()).toEqual(['x', 'y'])
  expect(directory.problems().map(([, keepsLastGood]) => keepsLastGood)).toEqual([true])
})

test('an invalid document that has the name of another object protects no others', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), valid(2, 'y')) })
  const now = { 'a.yaml': parsed(invalid(1, 'z'), valid(2, 'y')) }
  directory.scan(1_000, now)
  directory.scan(1_000 + QUIET_MS, now)
  expect(directory.names()).toEqual(['y'])
  expect(directory.problems()).toEqual([['a.yaml#1', false]])
})

test('the other documents of a file with an invalid one are read', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x', 200), valid(2, 'y', 200)) })
  directory.scan(1_000, { 'a.yaml': parsed(invalid(1, 'x'), valid(2, 'y', 404), valid(3, 'z')) })
  expect(directory.names()).toEqual(['x', 'y', 'z'])
  expect(directory.codes()).toEqual([200, 404, 200])
})

test('a file that is not YAML changes nothing that is served, and adds what is whole', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x', 200)) })
  const now = { 'a.yaml': broken(valid(1, 'x', 404), valid(2, 'new'), invalid(3)) }
  directory.scan(1_000, now)
  expect(directory.names()).toEqual(['new', 'x'])
  expect(directory.codes()).toEqual([200, 200])
})

test('what was held is given up once its file is right again, and without it', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), valid(2, 'y')) })
  directory.scan(1_000, { 'a.yaml': broken(invalid(1)) })
  const now = { 'a.yaml': parsed(valid(1, 'y')) }
  directory.scan(10_000, now)
  expect(directory.names()).toEqual(['x', 'y'])
  directory.scan(10_000 + QUIET_MS, now)
  expect(directory.names()).toEqual(['y'])
  expect(directory.problems()).toEqual([])
})

test('an object that is missing is held again when its file becomes unreadable', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  directory.scan(1_000, { 'a.yaml': parsed() })
  expect(directory.scan(1_100, { 'a.yaml': broken(invalid(1)) })).toEqual(['Publish'])
  expect(directory.scan(9_000, { 'a.yaml': broken(invalid(1)) })).toEqual([])
  expect(directory.names()).toEqual(['x'])
})

test('a directory that vanishes keeps everything and says so, and an empty one in its place does not', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')), 'b/c.yaml': unreadable })
  expect(directory.vanish(1_000)).toEqual(['Publish'])
  expect(directory.vanish(9_000)).toEqual([])
  expect(directory.names()).toEqual(['x'])
  expect(directory.problems()).toEqual([
    ['.', true],
    ['b/c.yaml', false],
  ])
  directory.scan(10_000, {})
  directory.scan(10_000 + QUIET_MS, {})
  expect(directory.published()).toEqual({ routes: [], problems: [] })
})

test('a directory that vanishes stops the time of what is missing', () => {
  const x = parsed(valid(1, 'x'))
  const directory = directoryOf({ 'a.yaml': x })
  directory.scan(1_000, {})
  directory.vanish(1_100)
  expect(directory.scan(1_000 + QUIET_MS, {})).toContain('ScanAgain')
  expect(directory.names()).toEqual(['x'])
})

test('a part of the directory that cannot be looked at keeps its objects, and no others', () => {
  const directory = directoryOf({
    'a.yaml': parsed(valid(1, 'x')),
    'sub/b.yaml': parsed(valid(1, 'y')),
    'subway.yaml': parsed(valid(1, 'z')),
  })
  directory.scan(1_000, {}, [{ path: 'sub' }])
  directory.scan(1_000 + QUIET_MS, {}, [{ path: 'sub' }])
  expect(directory.names()).toEqual(['y'])
  expect(directory.problems()).toEqual([['sub/', true]])
})

test('of two objects with one name, the first in the order of paths serves', () => {
  const directory = directoryOf({
    'b.yaml': parsed(valid(1, 'x', 202)),
    'B.yaml': parsed(valid(1, 'x', 201)),
    'a/z.yaml': parsed(valid(3, 'x', 203)),
  })
  expect(directory.codes()).toEqual([201])
  const { problems } = directory.published()
  expect(problems.map(({ where }) => where)).toEqual(['a/z.yaml#3', 'b.yaml#1'])
  for (const { errors, key } of problems) {
    expect(key).toEqual({ namespace: 'shop', name: 'x' })
    expect(errors).toEqual([
      { path: 'metadata.name', message: expect.stringContaining('B.yaml#1') as string },
    ])
  }
})

test('of two objects with one name in a file, the first document serves', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(2, 'x', 201), valid(10, 'x', 202)) })
  expect(directory.codes()).toEqual([201])
  expect(directory.problems()).toEqual([['a.yaml#10', false]])
  expect(directory.published().problems[0]?.errors[0]?.message).toContain('a.yaml#2')
})

test('the first of two keeps its name while it is invalid, and gives it up when it goes', () => {
  const second = parsed(valid(1, 'x', 202))
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x', 201)), 'b.yaml': second })
  directory.scan(1_000, { 'a.yaml': parsed(invalid(1, 'x')), 'b.yaml': second })
  expect(directory.codes()).toEqual([201])
  expect(directory.problems()).toEqual([
    ['a.yaml#1', true],
    ['b.yaml#1', false],
  ])
  directory.scan(2_000, { 'b.yaml': second })
  expect(directory.codes()).toEqual([202])
})

test('the first document keeps the name while it is invalid, if it had it before', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x', 201), valid(2, 'x', 202)) })
  directory.scan(1_000, { 'a.yaml': parsed(invalid(1, 'x'), valid(2, 'x', 203)) })
  expect(directory.codes()).toEqual([201])
  const late = directoryOf({ 'a.yaml': parsed(invalid(1, 'x'), valid(2, 'x', 202)) })
  expect(late.codes()).toEqual([202])
  late.scan(1_000, { 'a.yaml': parsed(invalid(1, 'x'), valid(2, 'x', 203)) })
  expect(late.codes()).toEqual([203])
})

test('a problem is said not to keep the last good form where another file serves the name', () => {
  const directory = directoryOf({
    'a.yaml': parsed(valid(1, 'x')),
    'b.yaml': parsed(valid(1, 'x')),
  })
  directory.scan(1_000, { 'a.yaml': parsed(valid(1, 'x')), 'b.yaml': parsed(invalid(1, 'x')) })
  expect(directory.problems()).toEqual([['b.yaml#1', false]])
})

test('problems come in the order of paths, then of documents', () => {
  const bad = parsed(invalid(10), invalid(9), invalid(undefined))
  const directory = directoryOf({ 'b.yaml': bad, 'a.yml': unreadable })
  expect(directory.problems().map(([where]) => where)).toEqual([
    'a.yml',
    'b.yaml',
    'b.yaml#9',
    'b.yaml#10',
  ])
})

test('an unchanged route stays the same object when its file is read again', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), valid(2, 'y')) })
  const before = directory.published().routes
  directory.scan(1_000, { 'a.yaml': parsed(valid(1, 'x'), valid(2, 'y', 404)) })
  const after = directory.published().routes
  expect(after[0]).toBe(before[0])
  expect(after[1]?.metadata.generation).toBe(2)
})

test('a file that is touched publishes nothing', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), invalid(2)) })
  expect(directory.scan(1_000, { 'a.yaml': parsed(valid(1, 'x'), invalid(2)) })).toEqual([])
})

test('the generation of an object goes on where it was when the object comes back', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x', 200)) })
  directory.scan(1_000, {})
  directory.scan(1_000 + QUIET_MS, {})
  directory.scan(9_000, { 'a.yaml': parsed(valid(1, 'x', 404)) })
  expect(directory.published().routes[0]?.metadata.generation).toBe(2)
})

test('no more than a bounded number of objects that are gone is remembered', () => {
  const many = Array.from({ length: MAX_REMEMBERED + 1 }, (_, i) => valid(i + 1, `n${String(i)}`))
  let state = step(initial, scanned(0, { 'a.yaml': parsed(...many) }))[0]
  state = step(state, scanned(1_000, {}))[0]
  state = step(state, scanned(1_000 + QUIET_MS, {}))[0]
  expect(state._tag === 'Following' && state.forms.size).toBe(MAX_REMEMBERED)
})

const scanned = (nowMs: number, files: Files) => ({
  _tag: 'Scanned' as const,
  startedAtMs: nowMs,
  endedAtMs: nowMs,
  files: new Map(Object.entries(files)),
  gaps: [],
})

test('a clock that was set back does not put off a removal', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  directory.scan(1_000_000, {})
  directory.scan(1_000, {})
  directory.scan(1_000 + QUIET_MS, {})
  expect(directory.names()).toEqual([])
})
