import type { Digest } from '../digest.js'
import { compareStrings, firstNotBefore } from '../order.js'
import type { RuleClaim } from '../translate/claims.js'

/** A claim with its place among equal ones: by the rank of its object, then by its place in that object. */
export interface Contender {
  readonly made: RuleClaim
  readonly rank: string
  readonly place: number
}

/** A claim that has another winner than before. */
export interface Turn<A extends Contender> {
  readonly claim: Digest
  readonly before: A | undefined
  readonly after: A | undefined
  /** All who make it now. */
  readonly contenders: ReadonlyArray<A>
}

/** Who makes each claim, and who has it: the first of them. */
export interface ClaimIndex<A extends Contender> {
  readonly add: (contender: A) => void
  /** Takes out the very one that was added. */
  readonly remove: (contender: A) => void
  readonly winnerOf: (claim: Digest) => A | undefined
  /** The claims whose winner is another one than when this was last asked, in the order of the changes. */
  readonly turns: () => ReadonlyArray<Turn<A>>
}

/**
 * Begins with no claims. A change costs O(log k) comparisons where k make the same claim, and a move of k
 * references.
 */
export const claimIndex = <A extends Contender>(): ClaimIndex<A> => {
  const contenders = new Map<Digest, Array<A>>()
  const winnersBefore = new Map<Digest, A | undefined>()
  const winnerOf = (claim: Digest): A | undefined => contenders.get(claim)?.[0]
  const touch = (claim: Digest): void => {
    if (!winnersBefore.has(claim)) winnersBefore.set(claim, winnerOf(claim))
  }
  return {
    winnerOf,
    add: (contender) => {
      const { claim } = contender.made
      touch(claim)
      const others = contenders.get(claim)
      if (others === undefined) contenders.set(claim, [contender])
      else others.splice(placeOf(others, contender), 0, contender)
    },
    remove: (contender) => {
      const { claim } = contender.made
      touch(claim)
      const all = contenders.get(claim) ?? []
      const place = placeOf(all, contender)
      if (all[place] === contender) all.splice(place, 1)
      if (all.length === 0) contenders.delete(claim)
    },
    turns: () => {
      const turns = [...winnersBefore].flatMap(([claim, before]) => {
        const after = winnerOf(claim)
        return before === after
          ? []
          : [{ claim, before, after, contenders: contenders.get(claim) ?? [] }]
      })
      winnersBefore.clear()
      return turns
    },
  }
}

const placeOf = <A extends Contender>(sorted: ReadonlyArray<A>, { rank, place }: A): number =>
  firstNotBefore(sorted, (each) => {
    const byRank = compareStrings(each.rank, rank)
    if (byRank !== 0) return byRank
    return each.place < place ? -1 : each.place > place ? 1 : 0
  })
