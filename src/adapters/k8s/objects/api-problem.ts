/** Why an API server has not done what it was asked for. */
export interface ApiProblem {
  readonly _tag:
    /** It gave no answer. It may have done it all the same. */
    | 'Unreachable'
    /** It does not know who asks, or does not allow it. */
    | 'Denied'
    /** It answers, and cannot do it, or not now. */
    | 'Failed'
  /** For people: what was asked, what was said, and what to do where that is known. */
  readonly message: string
  /** How long the API server asks to be left alone, in milliseconds; absent if it does not. */
  readonly retryAfterMs?: number
}
