import type { FieldError } from '../field-error.js'
import { scopeHeader } from '../table-form.js'

/** What the codec asks of a route and no schema can say, so that an API server takes what is then not Accepted. */
export interface Unsaid {
  readonly name: string
  /** Why it is left to the codec. */
  readonly why: string
  /** Whether it is this that an error of the codec speaks of. */
  readonly covers: (error: FieldError) => boolean
}

/**
 * All that the codec refuses and the schema takes; there is nothing that the schema refuses and the codec
 * takes. Unknown fields are not on the list: an API server drops them.
 */
export const unsaid: ReadonlyArray<Unsaid> = [
  {
    name: 'RE2 syntax',
    why: 'CEL cannot ask whether a text is a regex, how large its program is, and what it can match',
    covers: ({ path }) => path.endsWith('.regex'),
  },
  {
    name: 'distinct claims',
    why: 'comparing every two matches with all of their predicates is far beyond what CEL rules may cost',
    covers: ({ path, message }) =>
      /^spec\.matches\[\d+\]$/.test(path) && message.startsWith('says the same as '),
  },
  {
    name: 'weight in route tables',
    why: 'CEL cannot sum up the bytes of a whole object',
    covers: ({ path, message }) => path === 'spec' && message.includes('of every route table'),
  },
  {
    name: 'parts of a millisecond in seven digits or more',
    why: 'CEL reads the fraction of a duration in floating point, and would refuse whole milliseconds too',
    covers: ({ path, message }) =>
      path === 'spec.timeouts.request' && message.startsWith('must be whole milliseconds'),
  },
  {
    name: 'half a character',
    why: 'an API server reads a lone surrogate as U+FFFD, and stores that',
    covers: ({ message }) => message.startsWith('has half a character'),
  },
  {
    name: 'the header of scopes',
    why: 'what is stored with it must stay open to changes, if only for its finalizer to go',
    covers: ({ message }) => message.startsWith(`must not be ${scopeHeader}`),
  },
  {
    name: 'the number of finalizers',
    why: 'a schema cannot restrict metadata other than its name',
    covers: ({ path, message }) => path === 'metadata.finalizers' && message.includes('at most'),
  },
]
