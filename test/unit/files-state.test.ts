import { expect, test } from 'vitest'
import { maxProblems } from '../../src/adapters/files/problems.js'
import type { FileDocument, Reading } from '../../src/adapters/files/reading.js'
import {
  type FilesEffect,
  type FilesState,
  initial,
  quietMs,
  restlessMs,
  step,
} from '../../src/adapters/files/state.js'
import type { SourceState } from '../../src/ports/route-source.js'

type Files = Readonly<Record<string, Reading>>

const valid = (document: number, name: string, code = 200): FileDocument => ({
  _tag: 'Valid',
  document,
  key: { namespace: 'shop', name },
  content: { _tag: 'EdgeRoute', spec: { respond: { code } } },
})
const invalid = (document: number | undefined, name?: string): FileDocument => ({
  _tag: 'Invalid',
  document,
  kind: 'EdgeRoute',
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
const unreadable: Reading = {
  _tag: 'Unreadable',
  message: 'cannot be read: permission denied',
  stamp: undefined,
}
const empty = (): Reading => ({ _tag: 'Empty' })

/** A machine with a directory before it; scans take no time. */
const directoryOf = (files: Files) => {
  let state: FilesState = initial
  let published: SourceState = { routes: [], problems: [] }
  const take = ([next, effects]: readonly [FilesState, ReadonlyArray<FilesEffect>]) => {
    state = next
    for (const effect of effects) if (effect._tag === 'Publish') published = effect.state
    return effects.map((effect) => effect._tag)
  }
  const scan = (
    nowMs: number,
    now: Files,
    gaps: ReadonlyArray<{ path: string }> = [],
    ids: Readonly<Record<string, string>> = { '': '1' },
    touched = '',
  ) =>
    take(
      step(state, {
        _tag: 'Scanned',
        startedAtMs: nowMs,
        endedAtMs: nowMs,
        files: new Map(Object.entries(now)),
        directories: Object.entries(ids).map(([path, id]) => ({ path, id, touched })),
        gaps: gaps.map(({ path }) => ({ path, message: 'cannot be read' })),
      }),
    )
  const vanish = (nowMs: number) =>
    take(step(state, { _tag: 'DirectoryUnreadable', nowMs, message: 'no such directory' }))
  scan(0, files)
  return {
    scan,
    scanTouched: (nowMs: number, touched: string, now: Files) =>
      scan(nowMs, now, [], { '': '1' }, touched),
    scanAs: (nowMs: number, ids: Readonly<Record<string, string>>, now: Files) =>
      scan(nowMs, now, [], ids),
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
      directories: [],
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
  expect(directory.scan(1_000 + quietMs - 1, {})).toEqual(['ScanAgain'])
  expect(directory.names()).toEqual(['x'])
  expect(directory.scan(1_000 + quietMs, {})).toEqual(['Publish'])
  expect(directory.names()).toEqual([])
})

test('a file that goes and comes back between scans is no removal, though each scan has missed it', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  for (let scan = 1; scan <= 20; scan += 1)
    directory.scanTouched(1_000 + scan * 2 * quietMs, `touched ${scan}`, {})
  expect(directory.names()).toEqual(['x'])
  directory.scanTouched(20_000, 'touched 20', {})
  expect(directory.names()).toEqual([])
})

test('what is kept of a directory that was replaced gives way to what is there', () => {
  const directory = directoryOf({ 'x/a.yaml': parsed(valid(1, 'a')) })
  directory.scanAs(1_000, { '': '1', x: '1' }, { 'x/a.yaml': parsed(valid(1, 'a')) })
  directory.scanAs(2_000, { '': '1', x: '2' }, { 'y/a.yaml': parsed(valid(1, 'a', 418)) })
  expect(directory.codes()).toEqual([418])
  expect(directory.problems().map(([where]) => where)).toEqual(['x/'])
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
      directories: [],
      gaps: [],
    })
  const [first] = scan(initial, 0, 0, { 'a.yaml': x })
  const [second, effects] = scan(first, 1_000, 1_400, {})
  expect(effects).toEqual([{ _tag: 'ScanAgain', atMs: 1_400 + quietMs }])
  const tooEarly = scan(second, 1_400 + quietMs - 1, 1_400 + 2 * quietMs, {})[1]
  expect(tooEarly.map(({ _tag }) => _tag)).toEqual(['ScanAgain'])
})

test('an object that reappears in time was never gone', () => {
  const x = parsed(valid(1, 'x'))
  const directory = directoryOf({ 'a.yaml': x })
  const [before] = directory.published().routes
  directory.scan(1_000, {})
  expect(directory.scan(1_100, { 'a.yaml': x })).toEqual([])
  expect(directory.scan(1_000 + quietMs, {})).toEqual(['ScanAgain'])
  expect(directory.scan(1_000 + quietMs + 1, { 'a.yaml': x })).toEqual([])
  expect(directory.published().routes[0]).toBe(before)
})

test('a directory that never rests removes nothing, and says after a while how much waits', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), valid(2, 'y')) })
  let nowMs = 1_000
  let now = { 'b.yaml': parsed(valid(1, 'z')) }
  directory.scan(nowMs, now)
  for (let change = 1; change <= 100; change += 1) {
    nowMs += quietMs - 1
    now = { 'b.yaml': parsed(valid(1, 'z', 200 + change)) }
    expect(directory.scan(nowMs, now)).toEqual(['Publish', 'ScanAgain'])
    expect(directory.names()).toEqual(['x', 'y', 'z'])
    const isLong = nowMs - 1_000 >= restlessMs
    expect(directory.problems()).toEqual(isLong ? [['.', true]] : [])
  }
  expect(directory.published().problems[0]?.errors[0]?.message).toMatch(/2 removals wait/)
  directory.scan(nowMs + quietMs, now)
  expect(directory.names()).toEqual(['z'])
  expect(directory.problems()).toEqual([])
})

test('a file that changes without an end is a change, also if it can never be read', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  const log = (stamp: string): Reading => ({ _tag: 'Unreadable', message: 'changes', stamp })
  directory.scan(1_000, { 'b.yaml': log('1') })
  directory.scan(1_000 + quietMs, { 'b.yaml': log('2') })
  expect(directory.names()).toEqual(['x'])
  directory.scan(1_000 + 2 * quietMs, { 'b.yaml': log('2') })
  expect(directory.names()).toEqual([])
})

test('an object that moves to another file keeps its place and its identity', () => {
  const x = parsed(valid(1, 'x'))
  const directory = directoryOf({ 'b.yaml': x })
  const [before] = directory.published().routes
  directory.scan(1_000, {})
  expect(directory.scan(1_200, { 'a.yaml': x })).toEqual(['ScanAgain'])
  expect(directory.scan(1_200 + quietMs, { 'a.yaml': x })).toEqual([])
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
  directory.scan(1_000 + quietMs, now)
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
  directory.scan(10_000 + quietMs, now)
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

test('a directory that vanishes keeps everything and says so, and the same one does not when it is empty', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')), 'b/c.yaml': unreadable })
  expect(directory.vanish(1_000)).toEqual(['Publish'])
  expect(directory.vanish(9_000)).toEqual([])
  expect(directory.names()).toEqual(['x'])
  expect(directory.problems()).toEqual([
    ['.', true],
    ['b/c.yaml', false],
  ])
  directory.scan(10_000, {})
  directory.scan(10_000 + quietMs, {})
  expect(directory.published()).toEqual({ routes: [], problems: [] })
})

test('a directory that vanishes stops the time of what is missing', () => {
  const x = parsed(valid(1, 'x'))
  const directory = directoryOf({ 'a.yaml': x })
  directory.scan(1_000, {})
  directory.vanish(1_100)
  expect(directory.scan(1_000 + quietMs, {})).toContain('ScanAgain')
  expect(directory.names()).toEqual(['x'])
})

test('a part of the directory that cannot be looked at keeps its objects, and no others', () => {
  const directory = directoryOf({
    'a.yaml': parsed(valid(1, 'x')),
    'sub/b.yaml': parsed(valid(1, 'y')),
    'subway.yaml': parsed(valid(1, 'z')),
  })
  directory.scan(1_000, {}, [{ path: 'sub' }])
  directory.scan(1_000 + quietMs, {}, [{ path: 'sub' }])
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

test('an object that comes back after it was removed begins anew', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x', 200)) })
  directory.scan(500, { 'a.yaml': parsed(valid(1, 'x', 201)) })
  expect(directory.published().routes[0]?.metadata.generation).toBe(2)
  directory.scan(1_000, {})
  directory.scan(1_000 + quietMs, {})
  directory.scan(9_000, { 'a.yaml': parsed(valid(1, 'x', 404)) })
  expect(directory.published().routes[0]?.metadata.generation).toBe(1)
})

test('a file that is emptied keeps its objects and says so, until it is removed or has others', () => {
  const files = { 'a.yaml': parsed(valid(1, 'x')), 'b.yaml': parsed(valid(1, 'y')) }
  const directory = directoryOf(files)
  directory.scan(1_000, { 'a.yaml': empty(), 'b.yaml': empty() })
  directory.scan(9_000, { 'a.yaml': empty(), 'b.yaml': empty() })
  expect(directory.names()).toEqual(['x', 'y'])
  expect(directory.problems()).toEqual([
    ['a.yaml', true],
    ['b.yaml', true],
  ])
  expect(directory.published().problems[0]?.errors[0]?.message).toContain('is empty')
  const now = { 'b.yaml': parsed(valid(1, 'z')) }
  directory.scan(10_000, now)
  directory.scan(10_000 + quietMs, now)
  expect(directory.names()).toEqual(['z'])
  expect(directory.problems()).toEqual([])
})

test('a file that is removed, and comes back empty before that counts, keeps its objects', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  directory.scan(1_000, {})
  directory.scan(1_100, { 'a.yaml': empty() })
  directory.scan(9_000, { 'a.yaml': empty() })
  expect(directory.names()).toEqual(['x'])
})

test('a file that was never anything but empty, and one that has comments only, are simply read', () => {
  const directory = directoryOf({ 'a.yaml': empty(), 'b.yaml': parsed(valid(1, 'x')) })
  const now = { 'a.yaml': empty(), 'b.yaml': parsed() }
  directory.scan(1_000, now)
  directory.scan(9_000, now)
  expect(directory.published()).toEqual({ routes: [], problems: [] })
})

test('a directory that was replaced by an empty one keeps its routes until a file is in it', () => {
  const files = { 'a.yaml': parsed(valid(1, 'x')), 'sub/b.yaml': parsed(valid(1, 'y')) }
  const directory = directoryOf({})
  directory.scanAs(0, { '': '1', sub: '2' }, files)
  directory.vanish(500)
  directory.scanAs(1_000, { '': '3' }, {})
  directory.scanAs(5_000, { '': '3', sub: '4' }, {})
  directory.scanAs(9_000, { '': '5', sub: '4' }, {})
  expect(directory.names()).toEqual(['x', 'y'])
  expect(directory.problems()).toEqual([['.', true]])
  expect(directory.published().problems[0]?.errors[0]?.message).toContain('was replaced')
  const now = { 'c.yaml': parsed(valid(1, 'z')) }
  directory.scanAs(10_000, { '': '5', sub: '4' }, now)
  directory.scanAs(10_000 + quietMs, { '': '5', sub: '4' }, now)
  expect(directory.names()).toEqual(['y', 'z'])
  expect(directory.problems()).toEqual([['sub/', true]])
  directory.scanAs(20_000, { '': '5' }, now)
  directory.scanAs(20_000 + quietMs, { '': '5' }, now)
  expect(directory.names()).toEqual(['z'])
  expect(directory.problems()).toEqual([])
})

test('a directory below that was removed, and comes back empty before that counts, is a gap', () => {
  const a = parsed(valid(1, 'x'))
  const directory = directoryOf({})
  directory.scanAs(0, { '': '1', sub: '2' }, { 'a.yaml': a, 'sub/b.yaml': parsed(valid(1, 'y')) })
  expect(directory.scanAs(1_000, { '': '1' }, { 'a.yaml': a })).toEqual(['ScanAgain'])
  directory.scanAs(1_100, { '': '1', sub: '3' }, { 'a.yaml': a })
  directory.scanAs(9_000, { '': '1', sub: '3' }, { 'a.yaml': a })
  expect(directory.names()).toEqual(['x', 'y'])
  expect(directory.problems()).toEqual([['sub/', true]])
})

test('a directory that stays the same and is emptied is empty, and so is one that never had routes', () => {
  const directory = directoryOf({})
  directory.scanAs(0, { '': '1', sub: '2' }, { 'sub/b.yaml': parsed(valid(1, 'y')) })
  directory.scanAs(1_000, { '': '1', sub: '2' }, {})
  directory.scanAs(1_000 + quietMs, { '': '1', sub: '2' }, {})
  expect(directory.names()).toEqual([])
  directory.scanAs(3_000, { '': '3', sub: '4' }, {})
  expect(directory.published()).toEqual({ routes: [], problems: [] })
})

test('of many problems in a file the first are told, and how many there are more', () => {
  const bad = Array.from({ length: maxProblems + 7 }, (_, i) => invalid(i + 1, `n${String(i)}`))
  const directory = directoryOf({ 'a.yaml': parsed(...bad, valid(90, 'x')) })
  const { problems } = directory.published()
  expect(problems).toHaveLength(maxProblems + 1)
  expect(problems.at(-1)).toMatchObject({ where: 'a.yaml', keepsLastGood: false })
  expect(problems.at(-1)?.errors[0]?.message).toContain('and 7 more')
  expect(directory.names()).toEqual(['x'])
})

test('of many objects whose names are taken by another file the first are told too', () => {
  const many = Array.from({ length: 100 }, (_, i) => valid(i + 1, `n${String(i)}`))
  const directory = directoryOf({ 'a.yaml': parsed(...many), 'copy.yaml': parsed(...many) })
  expect(directory.problems()).toHaveLength(maxProblems + 1)
})

test('what stands for the many problems of a file says if it keeps what was there', () => {
  const many = (code: number) =>
    Array.from({ length: 2 * maxProblems }, (_, i) => valid(i + 1, `n${String(i)}`, code))
  const directory = directoryOf({ 'a.yaml': parsed(...many(200)) })
  directory.scan(1_000, {
    'a.yaml': parsed(...many(200).map((_, i) => invalid(i + 1, `n${String(i)}`))),
  })
  expect(directory.problems().at(-1)).toEqual(['a.yaml', true])
})

test('of many parts that cannot be looked at the first are told, and all keep their routes', () => {
  const gaps = Array.from({ length: 3 * maxProblems }, (_, i) => ({ path: `d${String(i + 100)}` }))
  const files = Object.fromEntries(
    gaps.map(({ path }, i) => [`${path}/a.yaml`, parsed(valid(1, `n${String(i)}`))]),
  )
  const directory = directoryOf(files)
  directory.scan(1_000, {}, gaps)
  directory.scan(9_000, {}, gaps)
  expect(directory.names()).toHaveLength(gaps.length)
  expect(directory.problems()).toHaveLength(maxProblems + 1)
  expect(directory.problems()[0]).toEqual(['.', true])
  expect(directory.published().problems[0]?.errors[0]?.message).toContain('has 40 more')
})

test('the directory itself is named once, whatever is wrong with it', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  const emptied = parsed()
  for (let change = 0; change <= 20; change += 1) {
    const now = { 'a.yaml': emptied, 'b.yaml': parsed(valid(1, 'y', 200 + change)) }
    directory.scan(1_000 + change * 200, now, [{ path: '' }])
  }
  expect(directory.names()).toEqual(['x', 'y'])
  expect(directory.problems()).toEqual([['.', true]])
  expect(directory.published().problems[0]?.errors.map(({ message }) => message)).toEqual([
    'cannot be read',
    expect.stringContaining('1 removal waits'),
  ])
})

const service = (document: number, name: string, port = 80): FileDocument => {
  const key = { namespace: 'shop', name }
  const content = { _tag: 'Service' as const, service: { ...key, ports: [{ name: '', port }] } }
  return { _tag: 'Valid', document, key, content }
}

const slice = (document: number, name: string): FileDocument => {
  const key = { namespace: 'shop', name }
  const of = { ...key, service: 'x', ports: [], endpoints: [] }
  return { _tag: 'Valid', document, key, content: { _tag: 'EndpointSlice', slice: of } }
}

test('a directory says nothing of Services until it has one, and then also that there is none', () => {
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x')) })
  expect(directory.published()).not.toHaveProperty('backends')
  directory.scan(1_000, { 'a.yaml': parsed(valid(1, 'x'), service(2, 'x'), slice(3, 'x')) })
  const { routes, backends } = directory.published()
  expect(routes).toHaveLength(1)
  expect(backends?.services.map(({ name }) => name)).toEqual(['x'])
  expect(backends?.endpointSlices.map(({ name }) => name)).toEqual(['x'])
  const bare = parsed(valid(1, 'x'))
  expect(directory.scan(2_000, { 'a.yaml': bare })).toEqual(['ScanAgain'])
  expect(directory.published().backends).toBe(backends)
  expect(directory.scan(2_000 + quietMs, { 'a.yaml': bare })).toEqual(['Publish'])
  expect(directory.published().backends).toEqual({ services: [], endpointSlices: [] })
  expect(directory.published().routes).toBe(routes)
})

test('a Service that changes alone leaves routes and slices the very same', () => {
  const all = (port: number) => ({
    'a.yaml': parsed(valid(1, 'x'), service(2, 'x', port), service(3, 'y'), slice(4, 'x')),
  })
  const directory = directoryOf(all(80))
  const before = directory.published()
  expect(directory.scan(1_000, all(81))).toEqual(['Publish'])
  const after = directory.published()
  expect(after.routes).toBe(before.routes)
  expect(after.backends?.endpointSlices).toBe(before.backends?.endpointSlices)
  expect(after.backends?.services.map(({ ports }) => ports[0]?.port)).toEqual([81, 80])
  expect(after.backends?.services[1]).toBe(before.backends?.services[1])
  expect(directory.scan(2_000, all(81))).toEqual([])
})

test('an invalid Service keeps its last good form, and is told of without the name of a route', () => {
  const wrong: FileDocument = {
    _tag: 'Invalid',
    document: 2,
    kind: 'Service',
    key: { namespace: 'shop', name: 'x' },
    errors: [{ path: 'spec', message: 'is wrong' }],
  }
  const directory = directoryOf({ 'a.yaml': parsed(valid(1, 'x'), service(2, 'x'), valid(3, 'y')) })
  directory.scan(1_000, { 'a.yaml': parsed(valid(1, 'x'), wrong, valid(3, 'y')) })
  expect(directory.published().backends?.services).toHaveLength(1)
  expect(directory.published().problems).toEqual([
    { where: 'a.yaml#2', key: undefined, errors: wrong.errors, keepsLastGood: true },
  ])
})

test('of two Services with one name the first path in order counts, and a route of that name is none', () => {
  const directory = directoryOf({
    'a.yaml': parsed(service(1, 'x', 80)),
    'b.yaml': parsed(service(1, 'x', 81), valid(2, 'x')),
  })
  expect(directory.published().backends?.services.map(({ ports }) => ports[0]?.port)).toEqual([80])
  expect(directory.names()).toEqual(['x'])
  const [problem, ...more] = directory.published().problems
  expect(more).toEqual([])
  expect(problem?.key).toBeUndefined()
  expect(problem?.errors[0]?.message).toContain('Service shop/x is in a.yaml#1 too')
})

test('what is of another kind stands for none of ours, unless it is in the place of that', () => {
  const other: FileDocument = {
    _tag: 'Invalid',
    document: 1,
    kind: 'Other',
    key: { namespace: 'shop', name: 'x' },
    errors: [{ path: 'kind', message: 'is another' }],
  }
  const directory = directoryOf({ 'a.yaml': parsed(other, service(2, 'x'), valid(3, 'y')) })
  const without = parsed(other, valid(3, 'y'))
  directory.scan(1_000, { 'a.yaml': without })
  directory.scan(1_000 + quietMs, { 'a.yaml': without })
  expect(directory.published().backends?.services).toEqual([])
  expect(directory.problems()).toEqual([['a.yaml#1', false]])
  directory.scan(9_000, { 'a.yaml': parsed(service(1, 'x'), valid(2, 'y')) })
  directory.scan(10_000, { 'a.yaml': without })
  directory.scan(11_000, { 'a.yaml': without })
  expect(directory.published().backends?.services).toHaveLength(1)
  expect(directory.problems()).toEqual([['a.yaml#1', true]])
  directory.scan(12_000, { 'a.yaml': parsed(other, service(2, 'x', 81), valid(3, 'y')) })
  expect(directory.published().backends?.services.map(({ ports }) => ports[0]?.port)).toEqual([81])
})
