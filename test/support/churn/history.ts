/**
 * Something that happened in a churn. Times are of one clock, in milliseconds. What is said of routes
 * stands in the order of time; answers stand where they were complete.
 */
export type Entry =
  /** Noted just before it is published: no Envoy can have had it earlier. */
  | {
      readonly _tag: 'Published'
      readonly atMs: number
      readonly uid: string
      readonly generation: number
      readonly prefix: string
      /** The addresses that its requests may reach. */
      readonly backends: ReadonlyArray<string>
    }
  /** Noted just before a snapshot without the route is published. */
  | { readonly _tag: 'Withdrawn'; readonly atMs: number; readonly uid: string }
  /** The Envoy has ACKed this form of the route. */
  | {
      readonly _tag: 'Programmed'
      readonly atMs: number
      readonly envoy: string
      readonly uid: string
      readonly generation: number
    }
  /** The Envoy has ACKed that the route is no more. */
  | { readonly _tag: 'Gone'; readonly atMs: number; readonly envoy: string; readonly uid: string }
  | Answered

export interface Answered {
  readonly _tag: 'Answered'
  readonly envoy: string
  /** Of the client; requests on one follow each other. */
  readonly connection: number
  readonly prefix: string
  readonly sentMs: number
  readonly doneMs: number
  /** Whether it was asked to wait in the Envoy, between the choice of its route and its way on. */
  readonly delayed: boolean
  readonly outcome: Outcome
}

export type Outcome =
  | {
      readonly _tag: 'Status'
      readonly status: number
      /** The address at which a backend got the request; absent where the Envoy answered itself. */
      readonly backend?: string
      /** Of what is not 200: how the Envoy explains it. */
      readonly body?: string
    }
  | { readonly _tag: 'Failed'; readonly reason: string }

/** What an answer was, in one word: `200`, `503`, `ECONNRESET`, … */
export const kindOf = (outcome: Outcome): string =>
  outcome._tag === 'Status' ? `${outcome.status}` : outcome.reason
