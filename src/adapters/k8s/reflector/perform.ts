import * as E from 'fp-ts/lib/Either.js'
import { get } from '../../../core/persistent-map.js'
import type { ApiFailure, ApiReply } from '../api.js'
import type { Failure } from './failure.js'
import type { Reflected } from './holdings.js'
import { pageDeadlineMs } from './limits.js'
import type { ReflectorPorts } from './ports.js'
import { wants, type Wish } from './selection.js'
import type { Reflector, ReflectorEffect, ReflectorEvent } from './state.js'
import { failureOf, type Page, type Reading, readEnd, readPage } from './wire.js'

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
      const listed = pageIn(reading, reply)
      return E.isLeft(listed)
        ? { _tag: 'Failed', attempt, failure: listed.left }
        : { _tag: 'Listed', attempt, ...listed.right }
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
  const where = grouping?.requestOf(wish.group) ?? { path, query: {} }
  const request = {
    method: 'GET',
    path: where.path,
    query: { ...query, ...where.query },
  } as const
  const reply = await client.send({ ...request, deadlineMs: pageDeadlineMs }, signal)()
  const page = pageIn(reading, reply)
  return E.isLeft(page)
    ? { _tag: 'FetchFailed', wish, failure: page.left }
    : { _tag: 'Fetched', wish, items: page.right.items }
}

const pageIn = <A>(
  reading: Reading<A>,
  reply: E.Either<ApiFailure, ApiReply>,
): E.Either<Failure, Page<A>> =>
  E.isLeft(reply) ? E.left(failureOf(reply.left)) : readPage(reading, reply.right)

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
