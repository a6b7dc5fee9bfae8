import * as E from 'fp-ts/lib/Either.js'
import type { ApiReply } from '../api.js'
import { objectIn, textIn } from '../reflector/index.js'

/** How a list is walked through; `P` is why it does not come to its end. */
export interface Walk<P> {
  /** Asks for the page at a position; for the first one if that is `undefined`. */
  readonly ask: (position: string | undefined) => Promise<E.Either<P, ApiReply>>
  /** Takes in a page, or whatever else came in place of one. Whether more is wanted. */
  readonly take: (reply: ApiReply) => E.Either<P, boolean> | Promise<E.Either<P, boolean>>
  /** The server has forgotten what was to follow: all pages come again, from the first one on. */
  readonly onRestart: () => void
  /** After how many of these to take in that it has forgotten, in place of a page. */
  readonly maxRestarts: number
}

/** The server does not remember that far back. */
const expiredStatus = 410

/** Walks through a list, page by page: the next one is asked for when the one before is taken in. */
export const walkPages = async <P>(walk: Walk<P>): Promise<E.Either<P, void>> => {
  let position: string | undefined
  let restarts = 0
  for (;;) {
    const reply = await walk.ask(position)
    if (E.isLeft(reply)) return reply
    const { status, body } = reply.right
    if (status === expiredStatus && restarts < walk.maxRestarts) {
      restarts += 1
      position = undefined
      walk.onRestart()
      continue
    }
    const wantsMore = await walk.take(reply.right)
    if (E.isLeft(wantsMore)) return wantsMore
    position = textIn(objectIn(body, 'metadata'), 'continue')
    if (position === undefined || !wantsMore.right) return E.right(undefined)
  }
}
