import type { TypeUrl } from '../type-url.js'
import { classifySotw, type RequestKind } from './classify.js'
import type { SotwRequest } from './messages.js'
import { eachName, hasName } from './names.js'
import type { Noted } from './noted.js'
import type { SessionOptions } from './session.js'
import { replaceNames, subscribeFirst } from './subscription.js'
import { accept, openWatch, refuse, repeatAll, resubscribe, settle, type Watch } from './watch.js'

/**
 * Takes in a request of the state-of-the-world variant.
 *
 * | kind            | what it does                                                      |
 * | --------------- | ----------------------------------------------------------------- |
 * | First           | opens the watch; versions that it brings are not trusted, since they speak of no set of names |
 * | Ack, Nack       | settles the response in flight, takes the names                    |
 * | NotApplied      | the same, but says nothing of what the client holds                |
 * | Change          | takes the names                                                    |
 * | Repeat          | sends once more what the client asks for, if that is allowed       |
 * | Stale           | takes the names if it has crossed the response in flight; no reply of its own |
 */
export const receiveSotw = (
  watch: Watch | undefined,
  request: SotwRequest,
  typeUrl: TypeUrl,
  { legacyWildcard }: SessionOptions,
): Noted => {
  const { kind, changesNames } = classifySotw(watch, request)
  if (watch === undefined) {
    const subscription = subscribeFirst(request.resourceNames, legacyWildcard.has(typeUrl))
    return { watch: openWatch(subscription, new Map()), kind: 'Other' }
  }
  const answered = answer(watch, kind, typeUrl)
  return {
    watch: changesNames ? rename(answered, request) : answered,
    kind: kind === 'Ack' || kind === 'Nack' ? kind : 'Other',
  }
}

const answer = (watch: Watch, kind: RequestKind, typeUrl: TypeUrl): Watch => {
  switch (kind) {
    case 'Ack':
      return accept(watch, typeUrl)
    case 'Nack':
      return refuse(watch)
    case 'NotApplied':
      return settle(watch)
    case 'Repeat':
      return watch.repeat === 'Allowed' ? repeatAll(watch) : watch
    case 'First':
    case 'Change':
    case 'Stale':
      return watch
  }
}

/** A name that was not asked for before is answered, even if nothing has changed. */
const rename = (watch: Watch, { resourceNames }: SotwRequest): Watch => {
  const before = watch.subscription
  const next = replaceNames(before, resourceNames)
  return resubscribe(watch, next, {
    asked: [...eachName(next.names)].filter((name) => !hasName(before.names, name)),
    givenUp: [...eachName(before.names)].filter((name) => !hasName(next.names, name)),
  })
}
