/** Why a list did not come, or a watch has ended. */
export type Failure =
  /** The server says no, in a reply or in the middle of a stream. */
  | {
      readonly _tag: 'Refused'
      /** The HTTP status, or the code of the `Status`. */
      readonly status: number
      /** What the server says, for people. */
      readonly message: string
      /** How long it asks to wait, in milliseconds. */
      readonly retryAfterMs: number | undefined
    }
  /** No reply, or one that broke off. */
  | { readonly _tag: 'Unreachable'; readonly message: string }
  /** Nothing came for too long. */
  | { readonly _tag: 'Silent'; readonly message: string }
  /** Something that cannot be understood, so that what it says is missing. */
  | { readonly _tag: 'Malformed'; readonly message: string }

/** Something that keeps a reflector from knowing what the server has. */
export interface Trouble {
  readonly failure: Failure
  /** What was asked for in vain. */
  readonly of: 'List' | 'Watch'
}

/** Puts a trouble in words that say what to do; `resource` is as in `edgeroutes in namespace shop`. */
export const showTrouble = ({ failure, of }: Trouble, resource: string): string => {
  const what = `cannot ${of.toLowerCase()} ${resource}`
  switch (failure._tag) {
    case 'Refused':
      return `${what}: ${showRefusal(failure.status)}${failure.message}`
    case 'Unreachable':
    case 'Silent':
    case 'Malformed':
      return `${what}: ${failure.message}`
  }
}

const showRefusal = (status: number): string => {
  switch (status) {
    case 401:
      return 'the API server does not accept the credentials: '
    case 403:
      return 'RBAC does not allow it: '
    case 404:
      return 'the API server does not know this kind. Install its definition (of EdgeRoute: kubectl apply -k deploy): '
    default:
      return `the API server answers ${status}: `
  }
}

/** True where trying again at once helps nobody, so that people should know after the first time. */
export const needsPeople = (failure: Failure): boolean =>
  failure._tag === 'Refused' && [401, 403, 404].includes(failure.status)

/** The server does not remember that far back: list again. */
export const isExpired = (failure: Failure): boolean =>
  failure._tag === 'Refused' && failure.status === 410

/**
 * What a server says to a watch-list that it does not have: the feature is switched off (422), or it is older
 * than the parameters (400).
 */
export const isUnknownRequest = (failure: Failure): boolean =>
  failure._tag === 'Refused' && (failure.status === 400 || failure.status === 422)

export const isSameTrouble = (a: Trouble | undefined, b: Trouble | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.of === b.of &&
    a.failure._tag === b.failure._tag &&
    a.failure.message === b.failure.message)
