import * as E from 'fp-ts/lib/Either.js'
import {
  type ApiConnection,
  type ApiFaults,
  type ApiObject,
  memoryApiServer,
  type MemoryApiServer,
  type RequestFate,
  type Write,
} from '../../src/adapters/memory/api-server/index.js'
import { finalizer } from '../../src/core/stored-object.js'
import type { SteppingClock } from './clock.js'
import { type Random, randomOf } from './random.js'
import { namespace, nameOf, specOf } from './routes.js'
import type { ApiWeather, SpecChoice, Step } from './steps.js'

/** The API server of a run, and the people who write to it. */
export interface Api {
  readonly server: MemoryApiServer
  readonly change: (weather: ApiWeather, seed: number) => void
  /** Events are lost at the moment, and old ones told again. */
  readonly isLossy: () => boolean
  /** Does what a person does to an object; nothing where that cannot be. */
  readonly person: (step: PersonStep) => void
  /** True while a person writes. */
  readonly isPersonWriting: () => boolean
  /** The mark of an object's answers, by its uid. */
  readonly markOf: (uid: string) => string | undefined
  readonly uidOf: (mark: string) => string | undefined
  /** Takes away what holds objects besides us. */
  readonly letAllGo: () => void
}

export type PersonStep = Extract<Step, { readonly _tag: 'Create' | 'Update' | 'Delete' | 'Meddle' }>

const foreignFinalizer = 'example.com/hold'

const fairWeather: ApiWeather = { failing: 0, slow: 0, slowMs: 0, lossy: 0 }

export const makeApi = (clock: SteppingClock): Api => {
  const faults = makeFaults()
  const server = memoryApiServer({ clock, faults: faults.faults, historyLimit: 200 })
  const marks = new Map<string, string>()
  const uids = new Map<string, string>()
  let isPersonWriting = false
  let forms = 0
  const write = (each: Write): ApiObject | undefined => {
    isPersonWriting = true
    const answer = server.write(each)
    isPersonWriting = false
    return E.isRight(answer) ? answer.right : undefined
  }
  const spec = (choice: SpecChoice, mark: string): unknown => specOf(choice, mark, (forms += 1))
  const put = ({ metadata, spec }: ApiObject, changes: Partial<ApiObject['metadata']>): void =>
    void write({ _tag: 'Update', object: { metadata: { ...metadata, ...changes }, spec } })
  const meddle = (object: ApiObject, how: MeddleStep['how']): void => {
    const { finalizers = [], labels, uid } = object.metadata
    switch (how) {
      case 'StripFinalizer':
        return put(object, { finalizers: finalizers.filter((each) => each !== finalizer) })
      case 'Hold':
        return put(object, { finalizers: [...new Set([...finalizers, foreignFinalizer])] })
      case 'LetGo':
        return put(object, { finalizers: finalizers.filter((each) => each !== foreignFinalizer) })
      case 'Label':
        return put(object, { labels: { ...labels, round: String((forms += 1)) } })
      case 'Status':
        return void write({
          _tag: 'Update',
          subresource: 'status',
          object: { ...object, status: { ...statusOf(object), seen: `${uid} ${(forms += 1)}` } },
        })
    }
  }
  return {
    server,
    change: faults.change,
    isLossy: faults.isLossy,
    isPersonWriting: () => isPersonWriting,
    markOf: (uid) => marks.get(uid),
    uidOf: (mark) => uids.get(mark),
    letAllGo: () => {
      for (const object of server.list().items) meddle(object, 'LetGo')
    },
    person: (step) => {
      const key = { namespace, name: nameOf(step.name) }
      const present = server.get(key)
      if (step._tag === 'Create') {
        if (present !== undefined) return
        const mark = `o${marks.size + 1}`
        const finalizers = step.isHeld ? [foreignFinalizer] : []
        const created = write({
          _tag: 'Create',
          object: { metadata: { ...key, finalizers }, spec: spec(step.spec, mark) },
        })
        if (created === undefined) return
        marks.set(created.metadata.uid, mark)
        uids.set(mark, created.metadata.uid)
        return
      }
      if (present === undefined) return
      const mark = marks.get(present.metadata.uid) ?? ''
      switch (step._tag) {
        case 'Update':
          return void write({
            _tag: 'Update',
            object: { metadata: present.metadata, spec: spec(step.spec, mark) },
          })
        case 'Delete':
          return void write({ _tag: 'Delete', key })
        case 'Meddle':
          return meddle(present, step.how)
      }
    },
  }
}

type MeddleStep = Extract<Step, { readonly _tag: 'Meddle' }>

const statusOf = ({ status }: ApiObject): object =>
  typeof status === 'object' && status !== null ? status : {}

const makeFaults = (): {
  readonly faults: ApiFaults
  readonly change: (weather: ApiWeather, seed: number) => void
  readonly isLossy: () => boolean
} => {
  let weather = fairWeather
  let random: Random = randomOf(0)
  const listed = new Set<string>()
  const delay = (): number => (random.chance(weather.slow) ? random.below(weather.slowMs) : 0)
  const faults: ApiFaults = {
    ofRequest: (request, client) => {
      const fate: RequestFate = { requestMs: delay(), answerMs: delay() }
      if (random.chance(weather.failing))
        return { ...fate, fails: random.chance(0.5) ? 'before' : 'after' }
      if (request._tag !== 'List') return fate
      // Until a process has a list it asks the quorum; later ones may come from a replica that lags.
      const mayLag = listed.has(client) && random.chance(weather.lossy)
      listed.add(client)
      return mayLag ? { ...fate, behind: random.below(4) } : fate
    },
    ofEvent: () => {
      const delayMs = delay()
      if (!random.chance(weather.lossy)) return { delayMs }
      return random.pick([
        { delayMs, copies: 0 },
        { delayMs, copies: 2 },
        { delayMs, then: 'Close' },
        { delayMs, then: 'Gone' },
        { delayMs, then: 'Freeze' },
        { delayMs: delayMs + random.below(5_000) },
      ])
    },
  }
  return {
    faults,
    isLossy: () => weather.lossy > 0,
    change: (next, seed) => {
      weather = next
      random = randomOf(seed)
    },
  }
}

interface WriteHandlers {
  readonly onAsked: (write: Write) => void
  /** It has left the object as it was. */
  readonly onNoChange: (write: Write) => void
}

/** A server as a process sees it that may die: then it asks for nothing any more, and hears nothing. */
export const mortalServer = (
  server: MemoryApiServer,
  isDead: () => boolean,
  { onAsked, onNoChange }: WriteHandlers,
): MemoryApiServer => ({
  ...server,
  connect: (client) => {
    const { write, get, list, watch } = server.connect(client)
    const alive =
      <A extends ReadonlyArray<unknown>>(hear: (...args: A) => void) =>
      (...args: A): void => {
        if (!isDead()) hear(...args)
      }
    const connection: ApiConnection = {
      write: alive((each, onAnswer) => {
        onAsked(each)
        write(
          each,
          alive((answer) => {
            if (E.isRight(answer) && isUnchanged(each, answer.right)) onNoChange(each)
            onAnswer(answer)
          }),
        )
      }),
      get: alive((key, onAnswer) => {
        get(key, alive(onAnswer))
      }),
      list: alive((onAnswer) => {
        list(alive(onAnswer))
      }),
      watch: (version, { onEvent, onEnd }) =>
        isDead()
          ? () => undefined
          : watch(version, { onEvent: alive(onEvent), onEnd: alive(onEnd) }),
    }
    return connection
  },
})

/** Each patch of ours tests the version that it was made for: one that is still there after it has done nothing. */
const isUnchanged = (write: Write, { metadata }: ApiObject): boolean =>
  write._tag === 'Patch' &&
  // Who takes the last finalizer off is answered with the version that was there before.
  (write.subresource === 'status' || metadata.deletionTimestamp === undefined) &&
  write.patch.some(
    ({ op, path, ...rest }) =>
      op === 'test' &&
      path === '/metadata/resourceVersion' &&
      'value' in rest &&
      rest.value === metadata.resourceVersion,
  )
