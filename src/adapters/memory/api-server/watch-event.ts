import type { ApiError } from './api-error.js'
import type { ApiObject } from './api-object.js'
import type { Change } from './server-state.js'

/** What stands in the stream of a watch. */
export type WatchEvent =
  | { readonly type: Change['type']; readonly object: ApiObject }
  /** Everything up to this resource version was told. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }
  /** The last thing in a stream: why it ends. */
  | { readonly type: 'ERROR'; readonly error: ApiError }

export const eventOf = ({ type, object }: Change): WatchEvent => ({ type, object })

export const bookmarkOf = (revision: number): WatchEvent => ({
  type: 'BOOKMARK',
  resourceVersion: String(revision),
})
