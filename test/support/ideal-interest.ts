import type { Resource } from '../../src/core/resource.js'
import { isFullState } from '../../src/core/type-url.js'
import type { Response, Variant } from '../../src/core/xds/messages.js'
import type { Short } from './xds.js'

/** Names that a client comes to want, and names that it gives up, in one message. */
export interface NameChange {
  readonly subscribe: ReadonlyArray<string>
  readonly unsubscribe: ReadonlyArray<string>
}

export const noChange: NameChange = { subscribe: [], unsubscribe: [] }

export type Answer = 'none' | 'accept' | 'refuse'

/** What a client wants of one type, and what it has of it. */
export interface Interest {
  readonly short: Short
  wanted: ReadonlySet<string>
  held: Map<string, Resource>
  refused: Set<string>
  /** Of state of the world: the version that it accepted last. */
  version: string
  stream: StreamPart
}

/** What a client knows of one type on its present stream. */
export interface StreamPart {
  readonly isOpen: boolean
  /** It has given names: from then on everything must be asked for as `*`. */
  readonly isNamed: boolean
  readonly nonce: string
  readonly unread: Response | undefined
  /** What it has answered last: news, or what it had asked for once more. */
  readonly last: 'Nothing' | 'Refused' | 'News' | 'Repetition'
  readonly hasRepeated: boolean
}

export const freshStream: StreamPart = {
  isOpen: false,
  isNamed: false,
  nonce: '',
  unread: undefined,
  last: 'Nothing',
  hasRepeated: false,
}

export const anInterest = (short: Short): Interest => ({
  short,
  wanted: new Set(),
  held: new Map(),
  refused: new Set(),
  version: '',
  stream: freshStream,
})

export const covers = (wanted: ReadonlySet<string>, name: string): boolean =>
  wanted.has('*') || wanted.has(name)

export const wantedAfter = (
  wanted: ReadonlySet<string>,
  { subscribe, unsubscribe }: NameChange,
): ReadonlySet<string> =>
  new Set([...[...wanted].filter((name) => !unsubscribe.includes(name)), ...subscribe])

/** Changes what is wanted, and drops what is wanted no more. */
export const want = (interest: Interest, change: NameChange): void => {
  interest.wanted = wantedAfter(interest.wanted, change)
  const { wanted, held, refused } = interest
  interest.held = new Map([...held].filter(([name]) => covers(wanted, name)))
  interest.refused = new Set([...refused].filter((name) => covers(wanted, name)))
}

/** Applies the unread response, or refuses all of it. */
export const read = (variant: Variant, interest: Interest, answer: Answer): void => {
  const { unread } = interest.stream
  if (unread === undefined) return
  const { nonce, resources, removed, version } = unread
  const isWhole = variant === 'sotw' && isFullState(unread.typeUrl)
  const names = [...resources.map(({ name }) => name), ...removed]
  const touched = isWhole ? [...names, ...interest.held.keys()] : names
  const { hasRepeated } = interest.stream
  interest.stream = {
    ...interest.stream,
    unread: undefined,
    nonce,
    last: answer === 'refuse' ? 'Refused' : hasRepeated ? 'Repetition' : 'News',
    hasRepeated: false,
  }
  if (answer === 'refuse') {
    for (const name of touched) interest.refused.add(name)
    return
  }
  interest.version = version
  if (isWhole) interest.held = new Map()
  if (isWhole) interest.refused = new Set()
  for (const name of names) interest.refused.delete(name)
  for (const name of removed) interest.held.delete(name)
  for (const resource of resources)
    if (covers(interest.wanted, resource.name)) interest.held.set(resource.name, resource)
}
