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
  /** What it has not answered yet, oldest first. */
  readonly unread: ReadonlyArray<Response>
  /** What it has answered last: news, or what it had asked for once more. */
  readonly last: 'Nothing' | 'Refused' | 'News' | 'Repetition'
  readonly hasRepeated: boolean
}

export const freshStream: StreamPart = {
  isOpen: false,
  isNamed: false,
  nonce: '',
  unread: [],
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

/** What a client does not take. */
export interface Taste {
  readonly isBad: (short: Short, resource: Resource) => boolean
  /** Of a response that it refuses it applies what is good, as Envoy does. */
  readonly appliesParts: boolean
}

/** Applies the oldest unread response, or refuses it. */
export const read = (
  variant: Variant,
  interest: Interest,
  answer: Answer,
  taste: Taste,
): Answer => {
  const [unread, ...later] = interest.stream.unread
  if (unread === undefined) return 'none'
  const { nonce, resources, removed, version } = unread
  const bad = resources.filter((resource) => taste.isBad(interest.short, resource))
  // A client cannot but do without what it is to do without.
  const given = bad.length > 0 ? 'refuse' : resources.length === 0 ? 'accept' : answer
  const isWhole = variant === 'sotw' && isFullState(unread.typeUrl)
  const names = [...resources.map(({ name }) => name), ...removed]
  const touched = isWhole ? [...names, ...interest.held.keys()] : names
  const { hasRepeated } = interest.stream
  interest.stream = {
    ...interest.stream,
    unread: later,
    nonce,
    last: given === 'refuse' ? 'Refused' : hasRepeated ? 'Repetition' : 'News',
    hasRepeated: false,
  }
  if (given === 'refuse') {
    for (const name of touched) interest.refused.add(name)
    const culprits = bad.length > 0 ? bad : resources.slice(0, 1)
    if (taste.appliesParts)
      hold(
        interest,
        resources.filter((each) => !culprits.includes(each)),
      )
    return given
  }
  interest.version = version
  if (isWhole) interest.held = new Map()
  if (isWhole) interest.refused = new Set()
  for (const name of names) interest.refused.delete(name)
  for (const name of removed) interest.held.delete(name)
  hold(interest, resources)
  return given
}

const hold = ({ wanted, held }: Interest, resources: ReadonlyArray<Resource>): void => {
  for (const resource of resources)
    if (covers(wanted, resource.name)) held.set(resource.name, resource)
}
