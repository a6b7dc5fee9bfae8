import * as E from 'fp-ts/lib/Either.js'
import { get } from '../../../core/persistent-map.js'
import type { Failure } from './failure.js'
import type { Reflected } from './holdings.js'
import { pageDeadlineMs } from './limits.js'
import type { ReflectorPorts } from './ports.js'
import { wants, type Wish } from './selection.js'
import type { Reflector, ReflectorEffect, ReflectorEvent } from './state.js'
import {
  failureOf,
  malformed,
  type Reading,
  readEnd,
  readItems,
  readPage,
  refusalOf,
} from './wire.js'

type Effect<A, Tag> = ReflectorEffect<A> & { readonly _tag: Tag }

/** How the requests of a reflector are made. Each promise rejects only for a bug. */
export interface Performing<A> {
  readonly list: (effect: Effect<A, 'List'>, signal: AbortSignal) => Promise<ReflectorEvent<A>>
  /** Ends with the watch. */
  readonly watch: (
    effect: Effect<A, 'Watch'>,
    onLine: (line: string) => void,
    signal: AbortSignal,
  ) => Promise<ReflectorEvent<A>>
  readonly fetch: (wish: Wish, signal: AbortSignal) => Promise<ReflectorEvent<A>>
}

/** Turns what a reflector asks for into requests, and what comes back into its events. */
export const performing = <A>(ports: ReflectorPorts<A>, reading: Reading<A>): Performing<A> => {
  const { client, path, query } = ports
  return {
    list: async ({ attempt, query: page }, signal) => {
      const request = { method: 'GET', path, query: { ...query, ...page } } as const
      const reply = await client.send({ ...request, deadlineMs: pageDeadlineMs }, signal)()
      return E.isLeft(reply)
        ? { _tag: 'Failed', attempt, failure: failureOf(reply.left) }
        : readPage(reading, attempt, reply.right)
    },
    watch: async ({ attempt, query: watch, silenceMs }, onLine, signal) => {
      const stream = { path, query: { ...query, ...watch }, silenceMs }
      const end = await client.stream(stream, onLine, signal)()
      return E.isLeft(end)
        ? { _tag: 'Failed', attempt, failure: failureOf(end.left) }
        : readEnd(attempt, end.right)
    },
    fetch: (wish, signal) => fetchGroup(ports, reading, wish, signal),
  }
}

/** Lists one group by itself. */
const fetchGroup = async <A>(
  { client, path, query, grouping }: ReflectorPorts<A>,
  reading: Reading<A>,
  wish: Wish,
  signal: AbortSignal,
): Promise<ReflectorEvent<A>> => {
  const failed = (failure: Failure): ReflectorEvent<A> => ({ _tag: 'FetchFailed', wish, failure })
  const where = grouping?.requestOf(wish.group) ?? { path, query: {} }
  const request = {
    method: 'GET',
    path: where.path,
    query: { ...query, ...where.query },
  } as const
  const reply = await client.send({ ...request, deadlineMs: pageDeadlineMs }, signal)()
  if (E.isLeft(reply)) return failed(failureOf(reply.left))
  if (reply.right.status !== 200) return failed(refusalOf(reply.right))
  const items = readItems(reading, reply.right)
  return items === undefined
    ? failed(malformed('something else than a list'))
    : { _tag: 'Fetched', wish, items }
}

/** How objects are read, by what is held and wanted at that moment. */
export const readingOf = <A>(
  { project, grouping }: Pick<ReflectorPorts<A>, 'project' | 'grouping'>,
  state: () => Reflector<A>,
): Reading<A> => ({
  project,
  known: (name) => knownIn(state(), name),
  groupOf: grouping?.groupOf,
  wants: (group) => wants(state().selection, group),
})

/** As the list that is under way says, and else as it is held. */
const knownIn = <A>({ phase, held }: Reflector<A>, name: string): Reflected<A> | undefined =>
  ('draft' in phase ? get(phase.draft, name) : undefined) ?? get(held.objects, name)
