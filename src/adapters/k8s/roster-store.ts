import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { encodeRoster } from '../../core/roster/codec.js'
import type { RosterError, RosterStore } from '../../ports/roster-store.js'
import type { ApiClient } from './api.js'
import { configMapAt } from './objects/places.js'
import { type Holding, holdingOf, nothingHeld } from './roster-store/holding.js'
import { loadRoster } from './roster-store/load.js'
import { type Depth, isThere, lookAtPartsEvery } from './roster-store/look.js'
import { saveText, tidyUp } from './roster-store/save.js'
import type { Writing } from './roster-store/writing.js'

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
 * deleted is written anew, and so is one that was changed by somebody else while `isAlone` says that none may. Parts
 * that somebody deletes or replaces are found by `isThere`, which reads them at every sixth look, and the next save
 * makes them anew. No name of a part is used again once its deletion may be under way, by this process or another: one
 * that arrives late deletes nothing that is in use.
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
  let looks = 0
  const inOrder = oneAfterAnother()
  const tidying = (names: ReadonlySet<string>) => async (): Promise<void> => {
    if (holding !== undefined) holding = await tidyUp(writing, holding, names)
  }
  return {
    load: () => () =>
      inOrder(async () => {
        const loaded = await loadRoster(client, place)
        if (E.isLeft(loaded)) return loaded
        holding = holdingOf(loaded.right, holding ?? nothingHeld)
        return E.right(loaded.right.roster)
      }),
    save: (roster) => () =>
      inOrder(async (): Promise<E.Either<RosterError, void>> => {
        if (holding === undefined) return unavailable(place.shown, 'it was not read yet')
        const text = encodeRoster(roster)
        if (E.isLeft(text)) return unavailable(place.shown, text.left)
        const saved = await saveText(writing, text.right, holding)
        holding = saved.holding
        if (E.isRight(saved.result)) void inOrder(tidying(saved.holding.leftovers))
        return saved.result
      }),
    isThere: () => () =>
      inOrder(async () => {
        if (holding === undefined) return E.right(true)
        const looked = await isThere(writing, holding, depthOf(looks++))
        holding = looked.holding
        return looked.result
      }),
  }
}

const unavailable = (shown: string, why: string): E.Either<RosterError, never> =>
  E.left({ _tag: 'Unavailable', message: `the roster in ${shown} cannot be written: ${why}` })

/** Of the look before which there were so many: the first one goes deep. */
const depthOf = (before: number): Depth => (before % lookAtPartsEvery === 0 ? 'Parts' : 'Head')

/** Runs tasks in the order in which they come; none of them rejects. */
const oneAfterAnother = (): (<A>(task: () => Promise<A>) => Promise<A>) => {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const next = last.then(task)
    last = next
    return next
  }
}
