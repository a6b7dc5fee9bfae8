import fc from 'fast-check'
import { entries } from '../../src/core/persistent-map.js'
import type { Failure } from '../../src/adapters/k8s/reflector/failure.js'
import type { Change } from '../../src/adapters/k8s/reflector/holdings.js'
import { unsettledCount, type Wish, wants } from '../../src/adapters/k8s/reflector/selection.js'
import type {
  Reflector,
  ReflectorEffect,
  ReflectorEvent,
  ReflectorStep,
  Sighting,
} from '../../src/adapters/k8s/reflector/state.js'
import { begin, deadlineMs, step } from '../../src/adapters/k8s/reflector/step.js'
import {
  modelServer,
  type ModelServer,
  type ServerObject,
  type ServerWatch,
  type WatchWord,
} from './k8s-reflector-server.js'

export type Action =
  | {
      readonly _tag: 'put'
      readonly name: string
      readonly group: string
      readonly content: number
    }
  | { readonly _tag: 'remove' | 'recreate'; readonly name: string }
  | { readonly _tag: 'compact' | 'bookmark' | 'answerFetch' | 'loseFetch' }
  /** The server answers, so many times. */
  | { readonly _tag: 'answer'; readonly count: number }
  /** What is under way comes to nothing. */
  | { readonly _tag: 'fail'; readonly failure: Failure }
  | { readonly _tag: 'end' }
  | { readonly _tag: 'pass'; readonly ms: number }
  | { readonly _tag: 'select' | 'unselect'; readonly group: string }

export interface Plan {
  readonly actions: ReadonlyArray<Action>
  readonly watchList: 'Known' | 'Refused' | 'Ignored' | 'NotTried'
  readonly pageSize: number
  readonly selects: boolean
  readonly relistMs: number
  readonly entropy: number
}

const name = fc.constantFrom('shop/a', 'shop/b', 'shop/c', 'lab/a', 'lab/b')
const group = fc.constantFrom('g', 'h')
const failure: fc.Arbitrary<Failure> = fc.oneof(
  fc.record({
    _tag: fc.constant('Refused' as const),
    status: fc.constantFrom(410, 401, 403, 404, 429, 500, 503, 504, 400, 422),
    message: fc.constant('no'),
    retryAfterMs: fc.option(fc.nat(200_000), { nil: undefined }),
  }),
  fc.record({
    _tag: fc.constantFrom('Unreachable' as const, 'Silent' as const, 'Malformed' as const),
    message: fc.constant('nothing'),
  }),
)
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ _tag: fc.constant('put' as const), name, group, content: fc.nat(9) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ _tag: fc.constantFrom('remove' as const, 'recreate' as const), name }),
  },
  { weight: 8, arbitrary: fc.record({ _tag: fc.constant('answer' as const), count: fc.nat(4) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      _tag: fc.constantFrom('compact', 'bookmark', 'answerFetch', 'loseFetch', 'end'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('fail' as const), failure }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant('pass' as const), ms: fc.nat(20_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ _tag: fc.constantFrom('select' as const, 'unselect' as const), group }),
  },
)

export const plan: fc.Arbitrary<Plan> = fc.record({
  actions: fc.array(action, { maxLength: 60, size: 'max' }),
  watchList: fc.constantFrom('Known', 'Refused', 'Ignored', 'NotTried'),
  pageSize: fc.constantFrom(1, 2, 500),
  selects: fc.boolean(),
  relistMs: fc.constantFrom(0, 30_000),
  entropy: fc.nat(),
})

/** A moment at which something was told, or something could have been. */
export interface Told {
  readonly changes: ReadonlyArray<Change<number>>
  readonly state: Reflector<number>
  /** How many changes there had been on the server. */
  readonly logLength: number
  readonly nowMs: number
}

export interface Played {
  readonly told: ReadonlyArray<Told>
  readonly server: ModelServer
  readonly last: Reflector<number>
  readonly requests: number
  readonly isQuiet: boolean
}

/** How often at most the server has to answer, or time has to pass, until all is said that is to be said. */
const maxHealings = 400

/** Plays a reflector against the model server, with all the faults of a plan; then everything goes well. */
export const play = (each: Plan): Played => {
  const server = modelServer()
  const world = worldOf(each, server)
  for (const next of each.actions) act(world, server, next)
  let isQuiet = false
  for (let i = 0; i < maxHealings && !isQuiet; i++) {
    if (world.answer() || world.answerFetch()) continue
    const { phase, selection } = world.state()
    isQuiet = phase._tag === 'Watching' && unsettledCount(selection) === 0
    if (!isQuiet) world.passToDeadline()
  }
  return { ...world, last: world.state(), requests: world.requests(), server, isQuiet }
}

const act = (world: World, server: ModelServer, action: Action): void => {
  switch (action._tag) {
    case 'put':
      return server.put(action.name, action.group, action.content)
    case 'remove':
      return server.remove(action.name)
    case 'recreate':
      server.remove(action.name)
      return server.put(action.name, 'g', 0)
    case 'compact':
      return server.compact()
    case 'bookmark':
      return world.bookmark()
    case 'answerFetch':
      return void world.answerFetch()
    case 'loseFetch':
      return world.loseFetch()
    case 'answer':
      for (let i = 0; i <= action.count; i++) world.answer()
      return
    case 'fail':
      return world.fail(action.failure)
    case 'end':
      return world.end()
    case 'pass':
      return world.pass(action.ms)
    case 'select':
      return world.select([action.group], [])
    case 'unselect':
      return world.select([], [action.group])
  }
}

interface World {
  readonly told: ReadonlyArray<Told>
  readonly state: () => Reflector<number>
  readonly requests: () => number
  /** Answers one thing, if anything is asked. */
  readonly answer: () => boolean
  readonly answerFetch: () => boolean
  readonly loseFetch: () => void
  readonly bookmark: () => void
  readonly fail: (failure: Failure) => void
  readonly end: () => void
  readonly pass: (ms: number) => void
  readonly passToDeadline: () => void
  readonly select: (add: ReadonlyArray<string>, remove: ReadonlyArray<string>) => void
}

type Pending =
  | { readonly _tag: 'List'; readonly effect: ReflectorEffect<number> & { readonly _tag: 'List' } }
  | { readonly _tag: 'Watch'; readonly attempt: number; readonly watch: ServerWatch }
  | { readonly _tag: 'Refusing'; readonly attempt: number }

const worldOf = (each: Plan, server: ModelServer): World => {
  const told: Array<Told> = []
  const fetches: Array<{ readonly wish: Wish; items: ReadonlyArray<ServerObject> | undefined }> = []
  let pending: Pending | undefined
  let nowMs = 1_000
  let requests = 0
  const beginning = begin<number>(
    {
      entropy: each.entropy,
      watchList: each.watchList !== 'NotTried',
      groups: each.selects ? [] : undefined,
      pageSize: each.pageSize,
      relistMs: each.relistMs,
    },
    nowMs,
  )
  let [state] = beginning

  const take = ([next, effects]: ReflectorStep<number>): void => {
    state = next
    const changes = effects.flatMap((effect) => (effect._tag === 'Tell' ? effect.changes : []))
    told.push({ changes, state, logLength: server.log().length, nowMs })
    effects.forEach(perform)
  }
  const perform = (effect: ReflectorEffect<number>): void => {
    switch (effect._tag) {
      case 'List':
        requests += 1
        pending = { _tag: 'List', effect }
        return
      case 'Watch': {
        requests += 1
        const { attempt, query } = effect
        if (query.sendInitialEvents === undefined)
          pending = { _tag: 'Watch', attempt, watch: server.watch(query.resourceVersion ?? '') }
        else if (each.watchList === 'Refused') pending = { _tag: 'Refusing', attempt }
        else
          pending = {
            _tag: 'Watch',
            attempt,
            watch: server.watchList(each.watchList === 'Known'),
          }
        return
      }
      case 'Stop':
        pending = undefined
        return
      case 'Fetch':
        requests += 1
        fetches.push({ wish: effect.wish, items: undefined })
        return
      case 'Tell':
        return
    }
  }
  const receive = (event: ReflectorEvent<number>): void => take(step(state, event, nowMs))
  const see = ({ content, ...rest }: ServerObject): Sighting<number> => ({
    ...rest,
    value: wants(state.selection, rest.group) ? content : undefined,
  })
  const say = (attempt: number, word: WatchWord): void => {
    switch (word.type) {
      case 'ADDED':
      case 'MODIFIED':
        return receive({ _tag: 'Applied', attempt, object: see(word.object) })
      case 'DELETED':
        return receive({ _tag: 'Deleted', attempt, object: see(word.object) })
      case 'BOOKMARK':
        return receive({ _tag: 'Bookmarked', attempt, ...word })
      case 'GONE':
        return receive({ _tag: 'Failed', attempt, failure: gone })
    }
  }
  const answerList = (asked: Pending & { readonly _tag: 'List' }): void => {
    const { attempt, query } = asked.effect
    const page = server.list(Number(query.limit ?? 1_000), query.continue)
    pending = undefined
    if (page === undefined) receive({ _tag: 'Failed', attempt, failure: gone })
    else receive({ _tag: 'Listed', attempt, ...page, items: page.items.map(see) })
  }
  const ofGroup = (wish: Wish): ReadonlyArray<ServerObject> =>
    server.objects().filter((object) => object.group === wish.group)
  take(beginning)
  return {
    told,
    state: () => state,
    requests: () => requests,
    answer: () => {
      if (pending === undefined) return false
      if (pending._tag === 'List') {
        answerList(pending)
        return true
      }
      if (pending._tag === 'Refusing') {
        const { attempt } = pending
        pending = undefined
        receive({ _tag: 'Failed', attempt, failure: invalid })
        return true
      }
      const word = pending.watch.next()
      if (word !== undefined) say(pending.attempt, word)
      return word !== undefined
    },
    // First it is looked up, then it is told: in between, the watch may go on.
    answerFetch: () => {
      const [first] = fetches
      if (first === undefined) return false
      if (first.items === undefined) first.items = ofGroup(first.wish)
      else {
        fetches.shift()
        receive({ _tag: 'Fetched', wish: first.wish, items: first.items.map(see) })
      }
      return true
    },
    loseFetch: () => {
      const first = fetches.shift()
      if (first !== undefined)
        receive({
          _tag: 'FetchFailed',
          wish: first.wish,
          failure: { _tag: 'Unreachable', message: '' },
        })
    },
    bookmark: () => {
      if (pending?._tag === 'Watch') say(pending.attempt, pending.watch.bookmark())
    },
    fail: (failure) => {
      if (pending === undefined) return
      const attempt = state.attempt
      pending = undefined
      receive({ _tag: 'Failed', attempt, failure })
    },
    end: () => {
      if (pending?._tag !== 'Watch') return
      const { attempt } = pending
      pending = undefined
      receive({ _tag: 'Ended', attempt })
    },
    pass: (ms) => {
      nowMs += ms
      receive({ _tag: 'Ticked' })
    },
    passToDeadline: () => {
      nowMs = Math.max(nowMs, deadlineMs(state) ?? nowMs)
      receive({ _tag: 'Ticked' })
    },
    select: (add, remove) => receive({ _tag: 'Selected', add, remove }),
  }
}

const gone: Failure = { _tag: 'Refused', status: 410, message: 'too old', retryAfterMs: undefined }
const invalid: Failure = {
  _tag: 'Refused',
  status: 422,
  message: 'sendInitialEvents: Forbidden',
  retryAfterMs: undefined,
}

/** What a reflector holds, as the server says it. */
export const heldBy = (state: Reflector<number>): ReadonlyArray<ServerObject> =>
  [...entries(state.held.objects)].map(({ value, group: of = '', ...rest }) => ({
    ...rest,
    group: of,
    content: value,
  }))
