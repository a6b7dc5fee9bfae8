import { fc, test } from '@fast-check/vitest'
import { expect } from 'vitest'
import type { FileDocument, Reading } from '../../src/adapters/files/reading.js'
import {
  type FilesEvent,
  type FilesState,
  initial,
  quietMs,
  step,
} from '../../src/adapters/files/state.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { SourceState } from '../../src/ports/route-source.js'

// A directory on virtual time: whatever is done to it, the machine sees it only through scans.

type Kind = 'EdgeRoute' | 'Service'

type Doc =
  | { readonly _tag: 'Good'; readonly kind: Kind; readonly name: string; readonly code: number }
  | {
      readonly _tag: 'Bad'
      readonly kind: Kind | 'Other' | undefined
      readonly name: string | undefined
    }

type Content =
  | { readonly _tag: 'Text'; readonly docs: ReadonlyArray<Doc>; readonly broken: boolean }
  | { readonly _tag: 'Locked' }
  | { readonly _tag: 'Nothing' }

type Action =
  | { readonly _tag: 'Write'; readonly path: string; readonly content: Content }
  | { readonly _tag: 'Remove'; readonly path: string }
  | { readonly _tag: 'Move'; readonly from: string; readonly to: string }
  | { readonly _tag: 'Root'; readonly there: boolean }
  | { readonly _tag: 'Sub'; readonly readable: boolean }
  /** Another directory takes the place of one, and is empty. */
  | { readonly _tag: 'Replace'; readonly directory: Directory }
  | { readonly _tag: 'Wait'; readonly ms: number }

const paths = ['a.yaml', 'b.yaml', 'sub/c.yaml'] as const
const names = ['x', 'y', 'z'] as const
const kinds = ['EdgeRoute', 'Service'] as const

/** All that there may be: a route and a Service of each name. */
const objects = kinds.flatMap((kind) => names.map((name) => ({ kind, name })))
const directories = ['', 'sub'] as const
type Directory = (typeof directories)[number]

const isIn = (directory: Directory, at: string): boolean =>
  directory === '' || at.startsWith(`${directory}/`)

const path = fc.constantFrom(...paths)
const doc: fc.Arbitrary<Doc> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant('Good' as const),
      kind: fc.constantFrom('EdgeRoute', ...kinds),
      name: fc.constantFrom(...names),
      code: fc.constantFrom(200, 404),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant('Bad' as const),
      kind: fc.constantFrom(undefined, 'Other' as const, ...kinds),
      name: fc.option(fc.constantFrom(...names), { nil: undefined }),
    }),
  },
)
const text: fc.Arbitrary<Content> = fc.record({
  _tag: fc.constant('Text' as const),
  docs: fc.array(doc, { maxLength: 3 }),
  broken: fc.boolean(),
})
const content: fc.Arbitrary<Content> = fc.oneof(
  { weight: 5, arbitrary: text.map((whole) => ({ ...whole, broken: false })) },
  { weight: 2, arbitrary: text },
  { weight: 1, arbitrary: fc.constant({ _tag: 'Locked' as const }) },
  { weight: 1, arbitrary: fc.constant({ _tag: 'Nothing' as const }) },
)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant('Write' as const), path, content }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('Remove' as const), path }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant('Move' as const), from: path, to: path }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Root' as const), there: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ _tag: fc.constant('Sub' as const), readable: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      _tag: fc.constant('Replace' as const),
      directory: fc.constantFrom(...directories),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      _tag: fc.constant('Wait' as const),
      ms: fc.constantFrom(1, 100, quietMs - 1, quietMs, 2 * quietMs, 3_000),
    }),
  },
)

/** The directory as it really is. */
interface World {
  readonly files: Map<string, Content>
  /** How often each directory was replaced. */
  readonly ages: Map<Directory, number>
  /** The directories that were replaced and have had no file since. */
  readonly hollow: Set<Directory>
  root: boolean
  sub: boolean
}

const aWorld = (): World => ({
  files: new Map(),
  ages: new Map(directories.map((directory) => [directory, 0])),
  hollow: new Set(),
  root: true,
  sub: true,
})

const put = (world: World, at: string, content: Content): void => {
  world.files.set(at, content)
  for (const directory of directories) if (isIn(directory, at)) world.hollow.delete(directory)
}

const act = (world: World, deed: Exclude<Action, { _tag: 'Wait' }>): void => {
  switch (deed._tag) {
    case 'Write':
      put(world, deed.path, deed.content)
      return
    case 'Remove':
      world.files.delete(deed.path)
      return
    case 'Move': {
      const moved = world.files.get(deed.from)
      if (moved === undefined) return
      world.files.delete(deed.from)
      put(world, deed.to, moved)
      return
    }
    case 'Root':
      world.root = deed.there
      return
    case 'Sub':
      world.sub = deed.readable
      return
    case 'Replace':
      for (const at of [...world.files.keys()]) if (isIn(deed.directory, at)) world.files.delete(at)
      for (const directory of directories)
        if (directory === deed.directory || deed.directory === '') {
          world.ages.set(directory, (world.ages.get(directory) ?? 0) + 1)
          world.hollow.add(directory)
        }
  }
}

const readings = new WeakMap<Content, Reading>()

/** The same object for the same content, as a scanner gives it. */
const readingOf = (from: Content): Reading => {
  const known = readings.get(from)
  if (known !== undefined) return known
  const reading: Reading =
    from._tag === 'Locked'
      ? { _tag: 'Unreadable', message: 'cannot be read', stamp: undefined }
      : from._tag === 'Nothing'
        ? { _tag: 'Empty' }
        : { _tag: 'Parsed', broken: from.broken, documents: from.docs.map(documentOf) }
  readings.set(from, reading)
  return reading
}

const keyOf = (name: string) => ({ namespace: 'shop', name })

const serviceOf = ({ name, code }: Doc & { readonly _tag: 'Good' }) => ({
  ...keyOf(name),
  ports: [{ name: '', port: code }],
})

const documentOf = (from: Doc, index: number): FileDocument =>
  from._tag === 'Good'
    ? {
        _tag: 'Valid',
        document: index + 1,
        key: keyOf(from.name),
        content:
          from.kind === 'EdgeRoute'
            ? { _tag: from.kind, spec: { respond: { code: from.code } } }
            : { _tag: from.kind, service: serviceOf(from) },
      }
    : {
        _tag: 'Invalid',
        document: index + 1,
        kind: from.kind,
        key: from.name === undefined ? undefined : keyOf(from.name),
        errors: [{ path: '', message: 'is wrong' }],
      }

const look = (world: World, nowMs: number): FilesEvent => {
  if (!world.root) return { _tag: 'DirectoryUnreadable', nowMs, message: 'is not there' }
  const listed = [...world.files].filter(([at]) => world.sub || !at.startsWith('sub/'))
  return {
    _tag: 'Scanned',
    startedAtMs: nowMs,
    endedAtMs: nowMs,
    files: new Map(listed.map(([at, from]) => [at, readingOf(from)])),
    directories: directories
      .filter((directory) => world.sub || directory === '')
      .map((directory) => ({
        path: directory,
        id: String(world.ages.get(directory)),
        touched: '',
      })),
    gaps: world.sub ? [] : [{ path: 'sub', message: 'cannot be read' }],
  }
}

interface Something {
  readonly kind: Kind
  readonly name: string
}

/** What anybody can say of an object in a file, having looked at it once. */
const sightOf = (
  world: World,
  at: string,
  { kind, name }: Something,
): 'there' | 'gone' | 'doubtful' => {
  if (!world.root || (!world.sub && at.startsWith('sub/'))) return 'doubtful'
  if (directories.some((directory) => isIn(directory, at) && world.hollow.has(directory)))
    return 'doubtful'
  const found = world.files.get(at)
  if (found === undefined) return 'gone'
  if (found._tag !== 'Text') return 'doubtful'
  if (found.docs.some((d) => d._tag === 'Good' && d.kind === kind && d.name === name))
    return 'there'
  const maybe = found.docs.some(
    (d) =>
      d._tag === 'Bad' && (d.name === undefined || ((d.kind ?? kind) === kind && d.name === name)),
  )
  return found.broken || maybe || found.docs.at(-1)?._tag === 'Bad' ? 'doubtful' : 'gone'
}

const showSomething = ({ kind, name }: Something): string => `${kind} ${name}`

/**
 * The objects that must be served: each was seen in some file, and was not seen to be gone from it for the
 * whole of a quiet time since.
 */
const watchObjects = () => {
  const goneSince = new Map<string, number | undefined>()
  return (world: World, nowMs: number): ReadonlySet<string> => {
    const due = new Set<string>()
    for (const object of objects)
      for (const at of paths) {
        const place = `${at} ${showSomething(object)}`
        const sight = sightOf(world, at, object)
        const since = goneSince.get(place)
        if (sight === 'there') goneSince.set(place, undefined)
        else if (sight === 'doubtful' && goneSince.has(place)) goneSince.set(place, undefined)
        else if (goneSince.has(place)) goneSince.set(place, since ?? nowMs)
        if (since !== undefined && sight === 'gone' && nowMs - since >= quietMs)
          goneSince.delete(place)
        if (goneSince.has(place)) due.add(showSomething(object))
      }
    return due
  }
}

/** What is served once nothing is doubtful any more. */
const truth = (world: World): ReadonlyArray<readonly [string, number]> =>
  objects.flatMap((object) => {
    const all = [...world.files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, from]) => from)
    const first = all
      .flatMap((from) => (from._tag === 'Text' ? from.docs : []))
      .find((d) => d._tag === 'Good' && d.kind === object.kind && d.name === object.name)
    return first?._tag === 'Good' ? [[showSomething(object), first.code] as const] : []
  })

const repair = (world: World): void => {
  world.root = true
  world.sub = true
  for (const at of ['more.yaml', 'sub/more.yaml'])
    put(world, at, { _tag: 'Text', docs: [], broken: false })
  for (const [at, found] of world.files)
    if (found._tag !== 'Text') world.files.delete(at)
    else
      world.files.set(at, {
        ...found,
        broken: false,
        docs: found.docs.filter((d) => d._tag === 'Good'),
      })
}

/** A follower of the directory that checks, at each scan, what always holds. */
const followerOf = (world: World) => {
  let state: FilesState = initial
  let routes: ReadonlyArray<EdgeRoute> = []
  let backends: SourceState['backends']
  let wakeAtMs = Infinity
  const mustServe = watchObjects()
  const scan = (nowMs: number): void => {
    const due = mustServe(world, nowMs)
    const [next, effects] = step(state, look(world, nowMs))
    const before = state._tag === 'Following' ? state.published : undefined
    state = next
    wakeAtMs = Infinity
    for (const effect of effects) {
      if (effect._tag === 'ScanAgain') wakeAtMs = effect.atMs
      if (effect._tag !== 'Publish') continue
      expect(effect.state).not.toEqual(before)
      for (const route of effect.state.routes) expectOldIfEqual(routes, route)
      expectKnownIfEqual(backends, effect.state.backends)
      routes = effect.state.routes
      backends = effect.state.backends
    }
    const served = new Set(codesIn(routes, backends).map(([object]) => object))
    for (const name of due) expect(served).toContain(name)
    expect(step(state, look(world, nowMs))[1].filter(({ _tag }) => _tag === 'Publish')).toEqual([])
  }
  return { scan, wakeAtMs: () => wakeAtMs, codes: () => codesIn(routes, backends) }
}

const codesIn = (
  routes: ReadonlyArray<EdgeRoute>,
  backends: SourceState['backends'],
): ReadonlyArray<readonly [object: string, code: number | undefined]> => [
  ...routes.map((route) => {
    const name = showSomething({ kind: 'EdgeRoute', name: route.metadata.name })
    return [name, route.spec.respond?.code] as const
  }),
  ...(backends?.services ?? []).map(({ name, ports }) => {
    return [showSomething({ kind: 'Service', name }), ports[0]?.port] as const
  }),
]

/** Who has once spoken of Services does so ever after, and an unchanged one is the same object. */
const expectKnownIfEqual = (
  before: SourceState['backends'],
  now: SourceState['backends'],
): void => {
  if (before === undefined) return
  expect(now).toBeDefined()
  for (const service of now?.services ?? []) {
    const old = before.services.find(({ name }) => name === service.name)
    if (JSON.stringify(old) === JSON.stringify(service)) expect(service).toBe(old)
  }
}

const expectOldIfEqual = (before: ReadonlyArray<EdgeRoute>, route: EdgeRoute): void => {
  const old = before.find(({ metadata }) => metadata.uid === route.metadata.uid)
  if (old === undefined) return
  if (JSON.stringify(old.spec) === JSON.stringify(route.spec)) expect(route).toBe(old)
  else expect(route.metadata.generation).toBeGreaterThan(old.metadata.generation)
}

test.prop([fc.array(action, { maxLength: 40 })], { numRuns: 3_000 })(
  'nothing is removed by mistake, and in the end exactly what is in the directory is served',
  (actions) => {
    const world = aWorld()
    const follower = followerOf(world)
    let nowMs = 0
    const wait = (ms: number): void => {
      const endMs = nowMs + ms
      for (let scans = 0; scans < 100 && follower.wakeAtMs() <= endMs; scans += 1) {
        nowMs = Math.max(nowMs, follower.wakeAtMs())
        follower.scan(nowMs)
      }
      nowMs = endMs
    }
    follower.scan(nowMs)
    for (const deed of actions) {
      if (deed._tag === 'Wait') wait(deed.ms)
      else act(world, deed)
      follower.scan(nowMs)
    }
    repair(world)
    follower.scan(nowMs)
    wait(10_000)
    expect(follower.codes()).toEqual(truth(world))
  },
)
