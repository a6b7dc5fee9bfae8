import type { Resource } from '../../src/core/resource.js'
import type { DiscoveryRequest, Response, Variant } from '../../src/core/xds/messages.js'
import {
  anInterest,
  type Answer,
  freshStream,
  type Interest,
  type NameChange,
  noChange,
  read,
  type Taste,
  want,
  wantedAfter,
} from './ideal-interest.js'
import { aNode, refusal, type Short, shortOf, shorts, types } from './xds.js'

/**
 * A client that applies whatever comes, and asks for what it wants in the words of its variant.
 *
 * It refuses a response as a whole, and then keeps what it had; what it gives up it drops at once. A
 * method returns `undefined` where the protocol has no words for what it should say.
 */
export interface IdealClient {
  readonly variant: Variant
  /** The names that it wants, `*` for all of them. */
  readonly wanted: (short: Short) => ReadonlySet<string>
  readonly held: (short: Short) => ReadonlyMap<string, Resource>
  /** The names of a type that it has refused, and has accepted in no form since. */
  readonly refused: (short: Short) => ReadonlySet<string>
  /** The responses that it has not answered yet, oldest first. */
  readonly unread: (short: Short) => ReadonlyArray<Response>
  readonly deliver: (response: Response) => void
  /**
   * Answers the oldest response that is unread, if it is to, and changes what it wants, in one message. What is
   * not to its taste it refuses in any case.
   */
  readonly say: (short: Short, change: NameChange, answer: Answer) => DiscoveryRequest | undefined
  /** Loses what it wants by name (in delta this one name), and asks for it once more. */
  readonly lose: (short: Short, name: string) => DiscoveryRequest | undefined
  /** Notes that what it asked for once more did not come: the next response is news. */
  readonly giveUp: (short: Short) => void
  /** State of the world: repeats its request after an answer that was itself one to a repetition. */
  readonly nag: (short: Short) => DiscoveryRequest | undefined
  /** Answers a response that this stream has never seen, with names or without. */
  readonly answerUnseen: (
    short: Short,
    names: ReadonlyArray<string>,
    refuses: boolean,
  ) => DiscoveryRequest | undefined
  /** Takes a new stream, and asks for all that it wants, saying truly what it holds. */
  readonly reconnect: () => ReadonlyArray<DiscoveryRequest>
}

/** The words of a client. */
interface Words {
  readonly variant: Variant
  /** It asks for everything by giving no names, for as long as it can. */
  readonly legacyWildcard: boolean
  readonly taste: Taste
}

/** Takes everything. */
export const goodTaste: Taste = { isBad: () => false, appliesParts: false }

/** `legacyWildcard`: it asks for everything by giving no names, for as long as it can. */
export const idealClient = (
  variant: Variant,
  legacyWildcard: boolean,
  taste: Taste = goodTaste,
): IdealClient => {
  const interests: Readonly<Record<Short, Interest>> = {
    cds: anInterest('cds'),
    eds: anInterest('eds'),
    lds: anInterest('lds'),
    srds: anInterest('srds'),
    rds: anInterest('rds'),
  }
  const style = { variant, legacyWildcard, taste }
  return {
    variant,
    wanted: (short) => interests[short].wanted,
    held: (short) => interests[short].held,
    refused: (short) => interests[short].refused,
    unread: (short) => interests[short].stream.unread,
    deliver: (response) => {
      const interest = interests[shortOf(response.typeUrl)]
      const { stream } = interest
      interest.stream = { ...stream, unread: [...stream.unread, response] }
    },
    say: (short, change, answer) => say(style, interests[short], change, answer),
    lose: (short, name) => lose(style, interests[short], name),
    giveUp: (short) => {
      const interest = interests[short]
      interest.stream = { ...interest.stream, hasRepeated: false }
    },
    nag: (short) => (variant === 'sotw' ? repeat(interests[short], 'Repetition') : undefined),
    answerUnseen: (short, names, refuses) =>
      answerUnseen(style, interests[short], names, refuses ? 'refuse' : 'accept'),
    reconnect: () =>
      shorts.flatMap((short) => {
        const interest = interests[short]
        interest.stream = freshStream
        return interest.wanted.size === 0 ? [] : [ask(style, interest, noChange, 'none')]
      }),
  }
}

const say = (
  style: Words,
  interest: Interest,
  change: NameChange,
  answer: Answer,
): DiscoveryRequest | undefined => {
  const { unread } = interest.stream
  const hasWords = canSay(style.variant, interest, change)
  if (answer === 'none' ? !hasWords : unread.length === 0) return undefined
  const given = answer === 'none' ? answer : read(style.variant, interest, answer, style.taste)
  const said = hasWords ? change : noChange
  want(interest, said)
  return ask(style, interest, said, given)
}

const lose = (style: Words, interest: Interest, name: string): DiscoveryRequest | undefined => {
  if (!interest.stream.isOpen || !interest.wanted.has(name) || name === '*') return undefined
  if (style.variant === 'sotw') return repeat(interest, 'News')
  interest.held.delete(name)
  return ask(style, interest, { subscribe: [name], unsubscribe: [] }, 'none')
}

/** In state of the world such a request is lost; in delta what it asks for counts all the same. */
const answerUnseen = (
  { variant, taste }: Words,
  interest: Interest,
  names: ReadonlyArray<string>,
  answer: Answer,
): DiscoveryRequest | undefined => {
  const { stream } = interest
  if (!stream.isOpen) return undefined
  // Before there was a response no request of state of the world is behind any: what it says is meant.
  if (variant === 'sotw' && stream.nonce === '' && stream.unread.length === 0) return undefined
  const change: NameChange = { subscribe: names, unsubscribe: [] }
  if (variant === 'delta') want(interest, change)
  const request = ask({ variant, legacyWildcard: false, taste }, interest, change, answer)
  const isHeard = stream.unread.length > 0 && names.length > 0
  interest.stream = { ...stream, isNamed: stream.isNamed || isHeard }
  return request._tag === 'Sotw'
    ? { ...request, resourceNames: names, responseNonce: 'unseen' }
    : { ...request, responseNonce: 'unseen' }
}

/**
 * Without a stream there is nothing to give up. State of the world has no words for giving up everything
 * that was asked for without names, and says the same thing twice only where it means to repeat it.
 */
const canSay = (variant: Variant, { wanted, stream }: Interest, change: NameChange): boolean => {
  const after = wantedAfter(wanted, change)
  if (!stream.isOpen) return after.size > 0
  if (variant === 'delta') return true
  const isSame = after.size === wanted.size && [...after].every((name) => wanted.has(name))
  return !isSame && (stream.isNamed || after.size > 0)
}

const ask = (
  { variant, legacyWildcard }: Words,
  interest: Interest,
  change: NameChange,
  answer: Answer,
): DiscoveryRequest =>
  variant === 'sotw'
    ? askSotw(interest, answer, legacyWildcard)
    : askDelta(interest, change, answer, legacyWildcard)

/** Whether all that is wanted is everything, and no names need be given for it. */
const asksWithoutNames = ({ wanted, stream }: Interest, legacyWildcard: boolean): boolean =>
  legacyWildcard && !stream.isNamed && wanted.size === 1 && wanted.has('*')

const askSotw = (interest: Interest, answer: Answer, legacyWildcard: boolean): DiscoveryRequest => {
  const names = asksWithoutNames(interest, legacyWildcard) ? [] : [...interest.wanted]
  const { stream } = interest
  interest.stream = { ...stream, isOpen: true, isNamed: stream.isNamed || names.length > 0 }
  return {
    _tag: 'Sotw',
    node: aNode,
    typeUrl: types[interest.short],
    resourceNames: names,
    versionInfo: interest.version,
    responseNonce: stream.nonce,
    errorDetail: answer === 'refuse' ? refusal : undefined,
  }
}

const askDelta = (
  interest: Interest,
  change: NameChange,
  answer: Answer,
  legacyWildcard: boolean,
): DiscoveryRequest => {
  const { stream, wanted, held } = interest
  const everything = asksWithoutNames(interest, legacyWildcard) ? [] : [...wanted]
  const isFirst = !stream.isOpen
  interest.stream = { ...stream, isOpen: true }
  const versions = [...held.values()].map(({ name, version }) => [name, version] as const)
  return {
    _tag: 'Delta',
    node: aNode,
    typeUrl: types[interest.short],
    subscribe: isFirst ? everything : change.subscribe,
    unsubscribe: isFirst ? [] : change.unsubscribe,
    initialResourceVersions: new Map(isFirst ? versions : []),
    responseNonce: answer === 'none' ? '' : stream.nonce,
    errorDetail: answer === 'refuse' ? refusal : undefined,
  }
}

/** Says again what it said with its last answer; what it is to be sent anew it has lost. */
const repeat = (interest: Interest, after: 'News' | 'Repetition'): DiscoveryRequest | undefined => {
  const { stream, wanted } = interest
  const isQuiet = stream.isOpen && stream.unread.length === 0 && !stream.hasRepeated
  if (!isQuiet || stream.last !== after || wanted.has('*') || wanted.size === 0) return undefined
  if (after === 'News') {
    interest.held = new Map()
    interest.stream = { ...stream, hasRepeated: true }
  }
  return askSotw(interest, 'none', false)
}
