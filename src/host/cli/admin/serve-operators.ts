import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'
import type { HostPort } from '../../bootstrap.js'
import type { Operator } from '../../operator.js'
import { type AdminOptions, serveAdmin } from '../../admin/index.js'

/** The admin endpoint of `serve`, or its absence. */
export interface Operators {
  readonly address: HostPort | undefined
  readonly finished: Promise<void>
}

export interface ServingOperators extends Required<Pick<AdminOptions, 'logger' | 'whyNone'>> {
  /** `undefined` for no endpoint. */
  readonly admin: HostPort | undefined
}

/** Begins to answer to operators, unless it is switched off. Left says what to do where it cannot listen. */
export const serveOperators = async (
  { admin, logger, whyNone }: ServingOperators,
  operator: () => Operator | undefined,
  signal: AbortSignal,
): Promise<Either<string, Operators>> => {
  if (admin === undefined) return E.right({ address: undefined, finished: Promise.resolve() })
  try {
    return E.right(await serveAdmin({ ...admin, logger, whyNone }, operator, signal))
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    return E.left(`${message}. Choose another with --admin HOST:PORT, or --admin off for none.`)
  }
}
