import * as TE from 'fp-ts/lib/TaskEither.js'
import type { RouteSource, SourceError, SourceState } from '../ports/route-source.js'

/** The asynchronous ports as plain async functions. */
export interface PromisePorts {
  readonly source: {
    /** As `RouteSource.watch`; rejects where that ends with a left. */
    readonly watch: (onState: (state: SourceState) => void, signal: AbortSignal) => Promise<void>
  }
}

/**
 * Turns adapters that are written with promises into ports: a rejection becomes a left.
 */
export const fromPromises = ({ source }: PromisePorts): { readonly source: RouteSource } => ({
  source: {
    watch: (onState, signal) => TE.tryCatch(() => source.watch(onState, signal), unavailable),
  },
})

const unavailable = (cause: unknown): SourceError => ({
  _tag: 'Unavailable',
  message: cause instanceof Error ? cause.message : String(cause),
  cause,
})
