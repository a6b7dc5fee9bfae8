import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { encodeRoster } from '../../core/roster/codec.js'
import type { RosterError, RosterStore } from '../../ports/roster-store.js'
import type { ApiClient } from './api.js'
import { configMapAt } from './objects/places.js'
import { type Holding, holdingOf } from './roster-store/holding.js'
import { loadRoster } from './roster-store/load.js'
import { isThere, saveText, tidyUp, type Writing } from './roster-store/save.js'

export interface KubernetesRosterOptions {
  /** That of the control plane. */
  readonly namespace: string
  /** Of the ConfigMap, at most 63 characters; `defaultRosterName` if absent. */
  readonly name?: string | undefined
  /**
   * Whether nobody else may write it, as who holds a Lease beside it knows: what is found there then in the place of
   * what was saved, from a backup say, is replaced. Never if absent.
   */
  readonly isAlone?: (() => boolean) | undefined
}

/** What the ConfigMap of a roster is called if nothing else is said. */
export const defaultRosterName = 'edgewright-roster'

/**
 * A roster in a ConfigMap; a large one in several, which the first of them names.
 *
 * Guarantees: a save makes new ConfigMaps for what has changed, which are never changed again, and then lets the
 * first one name them, in one step: whatever fails, and whenever, what can be read is what was saved last, or this. It
 * writes the parts of a large roster that have changed and no others. What a save or a crash leaves over is deleted
 * after the next save that succeeds.
 *
 * It is written only by who has read it or was the last to write it. So one that cannot be read is never
 * overwritten, and of two control planes on one roster the one that has written first after reading goes on, while
 * the saves of the other fail and say so (`Superseded`). A save whose answer was lost is recognized. One that is
 * deleted is written anew, and so is one that was changed by somebody else while `isAlone` says that none may.
 *
 * Needs the permissions to get, list, create, update and delete ConfigMaps in the namespace.
 *
 * @category kubernetes
 * @since 0.3.0
 */
export const kubernetesRosterStore = (
  client: ApiClient,
  { namespace, name = defaultRosterName, isAlone = () => false }: KubernetesRosterOptions,
): RosterStore => {
  const place = configMapAt(namespace, name)
  const writing: Writing = { client, place, session: randomUUID().slice(0, 8), isAlone }
  /** What is ours to replace; `undefined` as long as nothing was read. */
  let holding: Holding | undefined
  let last: Promise<unknown> = Promise.resolve()
  const inOrder = <A>(task: () => Promise<A>): Promise<A> => {
    const next = last.then(task)
    last = next
    return next
  }
  const tidy = async (): Promise<void> => {
    if (holding !== undefined) holding = await tidyUp(writing, holding)
  }
  return {
    load: () => () =>
      inOrder(async () => {
        const loaded = await loadRoster(client, place)
        if (E.isLeft(loaded)) return loaded
        holding = holdingOf(loaded.right, holding ?? { tries: 0, settled: 0 })
        return E.right(loaded.right.roster)
      }),
    save: (roster) => () =>
      inOrder(async (): Promise<E.Either<RosterError, void>> => {
        if (holding === undefined) return unavailable(place.shown, 'it was not read yet')
        const text = encodeRoster(roster)
        if (E.isLeft(text)) return unavailable(place.shown, text.left)
        const saved = await saveText(writing, text.right, holding)
        holding = saved.holding
        if (E.isRight(saved.result)) void inOrder(tidy)
        return saved.result
      }),
    isThere: () => () =>
      inOrder(async () => (holding === undefined ? E.right(true) : isThere(writing, holding))),
  }
}

const unavailable = (shown: string, why: string): E.Either<RosterError, never> =>
  E.left({ _tag: 'Unavailable', message: `the roster in ${shown} cannot be written: ${why}` })
