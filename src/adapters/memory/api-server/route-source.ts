import * as E from 'fp-ts/lib/Either.js'
import type { RouteSource, SourceError } from '../../../ports/route-source.js'
import { follow, type Following } from './follow.js'
import { emptyView, viewOf } from './source-view.js'

/** The EdgeRoutes of a server, as one client follows them by lists and watches; each watcher by its own. */
export const apiRouteSource = (options: Omit<Following, 'signal'>): RouteSource => ({
  watch: (onState, signal) => () =>
    new Promise((resolve) => {
      const ending = new AbortController()
      const end = (result: E.Either<SourceError, void>): void => {
        signal.removeEventListener('abort', stop)
        ending.abort()
        resolve(result)
      }
      const stop = (): void => {
        end(E.right(undefined))
      }
      if (signal.aborted) {
        stop()
        return
      }
      signal.addEventListener('abort', stop)
      let view = emptyView
      follow({ ...options, signal: ending.signal }, (objects) => {
        view = viewOf(view, objects)
        try {
          onState(view.state)
        } catch (cause) {
          end(E.left({ _tag: 'Unavailable', message: 'the watcher threw', cause }))
        }
      })
    }),
})
