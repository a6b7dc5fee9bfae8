import { maxFetchesAtOnce } from './limits.js'
import { get, type Named, type PersistentMap, remove, set } from '../../../core/persistent-map.js'

/**
 * Which groups of objects are kept, where not all are, and which of them are not known yet.
 *
 * What was not wanted when the watch spoke of it was passed over, so a group that becomes wanted is fetched by a
 * list of its own. Resource versions are opaque: nothing tells whether such a list is older or newer than a word of
 * the watch. Therefore of each object the word counts that was heard after the list was asked for, and the list only
 * where there was none: what the list would have said is heard later, if it was newer.
 */
export interface Selection {
  readonly wanted: PersistentMap<Named>
  /** Wanted, and to be fetched. */
  readonly owed: ReadonlySet<string>
  /** Wanted, and brought by the list of everything that is under way. */
  readonly listed: ReadonlySet<string>
  /** Wanted, and being fetched. */
  readonly asked: ReadonlyMap<string, Asked>
  /** The objects that the watch spoke of since the oldest of what is being fetched was asked for. */
  readonly words: PersistentMap<Word>
  /** How many words and fetches there have been, in one count. */
  readonly moment: number
  /** How often in a row a fetch failed. */
  readonly failures: number
  /** Nothing is fetched before; -Infinity if nothing has failed. */
  readonly retryAtMs: number
}

export interface Asked {
  /** Identifies the fetch: an answer to an earlier one says nothing. */
  readonly moment: number
}

interface Word {
  readonly name: string
  readonly moment: number
}

/** A group that is to be fetched. */
export interface Wish {
  readonly group: string
  readonly moment: number
}

export const selectionOf = (groups: Iterable<string>): Selection =>
  select(
    {
      wanted: undefined,
      owed: new Set(),
      listed: new Set(),
      asked: new Map(),
      words: undefined,
      moment: 0,
      failures: 0,
      retryAtMs: -Infinity,
    },
    { add: groups, remove: [] },
  )

export interface Selecting {
  readonly add: Iterable<string>
  readonly remove: Iterable<string>
}

/** Wants some more, and others no longer. Costs O(what changes, and what is not known yet). */
export const select = (selection: Selection, selecting: Selecting): Selection => {
  let { wanted } = selection
  const owed = new Set(selection.owed)
  const listed = new Set(selection.listed)
  const asked = new Map(selection.asked)
  for (const group of selecting.remove) {
    wanted = remove(wanted, group)
    owed.delete(group)
    listed.delete(group)
    asked.delete(group)
  }
  for (const group of selecting.add) {
    if (get(wanted, group) !== undefined) continue
    wanted = set(wanted, { name: group })
    owed.add(group)
  }
  return { ...selection, wanted, owed, listed, asked }
}

/** Whether an object of this group is kept. */
export const wants = (selection: Selection | undefined, group: string | undefined): boolean =>
  selection === undefined || (group !== undefined && get(selection.wanted, group) !== undefined)

/** Whether all objects of this group are there, once there was a complete list. */
export const isSettled = (selection: Selection | undefined, group: string): boolean =>
  selection === undefined ||
  (wants(selection, group) &&
    !selection.owed.has(group) &&
    !selection.listed.has(group) &&
    !selection.asked.has(group))

/** How many groups are not known yet. */
export const unsettledCount = (selection: Selection | undefined): number =>
  selection === undefined ? 0 : selection.owed.size + selection.listed.size + selection.asked.size

/** A list of everything begins: it brings what is owed. */
export const listBegins = (selection: Selection): Selection => ({
  ...selection,
  owed: new Set(),
  listed: new Set([...selection.listed, ...selection.owed, ...selection.asked.keys()]),
  asked: new Map(),
  words: undefined,
  failures: 0,
  retryAtMs: -Infinity,
})

export const listEnds = (selection: Selection): Selection => ({ ...selection, listed: new Set() })

/** Whether something is owed, and one more may be fetched. */
export const mayAsk = ({ owed, asked }: Selection): boolean =>
  owed.size > 0 && asked.size < maxFetchesAtOnce

/** Fetches what is owed, as far as not too much is under way; the rest stays owed. */
export const ask = (
  selection: Selection,
): readonly [next: Selection, wishes: ReadonlyArray<Wish>] => {
  const owed = [...selection.owed]
  const now = owed.splice(0, maxFetchesAtOnce - selection.asked.size)
  const wishes = now.map((group, i) => ({
    group,
    moment: selection.moment + i + 1,
  }))
  const asked = new Map(selection.asked)
  for (const { group, moment } of wishes) asked.set(group, { moment })
  const moment = selection.moment + wishes.length
  return [{ ...selection, owed: new Set(owed), asked, moment }, wishes]
}

/** Notes that the watch spoke of an object. */
export const hear = (selection: Selection, name: string): Selection => {
  if (selection.asked.size === 0) return selection
  const moment = selection.moment + 1
  return { ...selection, moment, words: set(selection.words, { name, moment }) }
}

/** Whether an answer to this is still waited for. */
export const isAsked = ({ asked }: Selection, { group, moment }: Wish): boolean =>
  asked.get(group)?.moment === moment

/** Whether the watch has spoken of an object since the wish. */
export const isOvertaken = ({ words }: Selection, { moment }: Wish, name: string): boolean =>
  (get(words, name)?.moment ?? 0) > moment

/** A group is known now. */
export const answered = (selection: Selection, { group }: Wish): Selection => ({
  ...withoutAsked(selection, group),
  failures: 0,
})

/** A fetch has failed: its group is owed again, and nothing is fetched before this time. */
export const unanswered = (selection: Selection, { group }: Wish, retryAtMs: number): Selection => {
  const next = withoutAsked(selection, group)
  const owed = new Set([...next.owed, group])
  return { ...next, owed, failures: next.failures + 1, retryAtMs }
}

const withoutAsked = (selection: Selection, group: string): Selection => {
  const asked = new Map(selection.asked)
  asked.delete(group)
  return { ...selection, asked, words: asked.size === 0 ? undefined : selection.words }
}
