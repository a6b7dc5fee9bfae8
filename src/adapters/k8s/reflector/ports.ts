import type { Clock } from '../../../ports/clock.js'
import type { ApiClient } from '../api.js'
import type { JsonObject } from './json.js'
import type { Query } from './state.js'
import type { Beginning } from './step.js'
import type { Project } from './wire.js'

/** What a reflector is run with. */
export interface ReflectorPorts<A> extends Beginning {
  readonly client: ApiClient
  readonly clock: Clock
  /** Of the objects, from the root. */
  readonly path: string
  /** Goes with each list and each watch, as a label selector does. */
  readonly query: Query
  readonly project: Project<A>
  /** Absent where everything is kept. */
  readonly grouping: Grouping | undefined
}

/** What objects are selected by. */
export interface Grouping {
  /** Out of the metadata. Of an object that belongs nowhere nothing is kept. */
  readonly groupOf: (object: JsonObject) => string | undefined
  /** Where the objects of one group are listed. */
  readonly requestOf: (group: string) => { readonly path: string; readonly query: Query }
}
