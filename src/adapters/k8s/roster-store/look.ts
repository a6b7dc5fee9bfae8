import * as E from 'fp-ts/lib/Either.js'
import { type Digest, digestStrings } from '../../../core/digest.js'
import type { RosterError } from '../../../ports/roster-store.js'
import { afterDoubt, type Holding } from './holding.js'
import { eachPart } from './load.js'
import { readHead, seenIn } from './requests.js'
import { type Outcome, send, unavailable, type Writing } from './writing.js'

/**
 * At every how manieth look the parts are looked at, too: to read the head costs next to nothing, to read the parts of
 * 10,000 Envoys some 2 MB.
 */
export const lookAtPartsEvery = 6

export type Depth = 'Head' | 'Parts'

export type LookResult = E.Either<RosterError, boolean>

/**
 * Whether the head says what it said and, if these are looked at too, each part is what was written; left if that
 * cannot be told. A part that is not is relied on no more: the next save makes another one. Never rejects.
 */
export const isThere = async (
  writing: Writing,
  holding: Holding,
  depth: Depth,
): Promise<Outcome<LookResult>> => {
  const { seen: known, parts } = holding
  const answer = await send(writing, readHead(writing.place))
  switch (answer._tag) {
    case 'Done': {
      const isSame = seenIn(answer.object).fingerprint === known?.fingerprint
      if (isSame && depth === 'Parts' && parts.size > 0) return arePartsThere(writing, holding)
      return { result: E.right(isSame), holding }
    }
    case 'Missing':
      return { result: E.right(known === undefined), holding }
    case 'Conflict':
    case 'Problem':
      return { result: unavailable(writing, 'read', answer.problem), holding }
  }
}

const arePartsThere = async (
  { client, place }: Writing,
  holding: Holding,
): Promise<Outcome<LookResult>> => {
  const missing = new Set<Digest>(holding.parts.keys())
  const read = await eachPart(client, place, (name, piece) => {
    const digest = digestStrings(piece)
    if (holding.parts.get(digest) === name) missing.delete(digest)
  })
  if (E.isLeft(read)) return { result: E.left(read.left.error), holding }
  if (missing.size === 0) return { result: E.right(true), holding }
  return { result: E.right(false), holding: afterDoubt(holding, missing) }
}
