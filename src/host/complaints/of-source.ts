import { showKey } from '../../core/edge-route.js'
import { changedKeys } from '../../core/ordered-map.js'
import type { SourceProblem } from '../../ports/route-source.js'
import type { JudgedNames } from './judged-names.js'
import { problemWords } from './words.js'

/** What is complained of in a source. */
export interface SourceComplaints {
  readonly problems: ReadonlyArray<SourceProblem>
  /** The names of objects among the problems: what is said depends on whether these are judged. */
  readonly names: ReadonlySet<string>
  /** What is said of each place, in the order of the problems. */
  readonly messages: ReadonlyMap<string, string>
}

export const nothingOfSource: SourceComplaints = {
  problems: [],
  names: new Set(),
  messages: new Map(),
}

/**
 * The very same as before, if neither the list of problems is another one, nor an object has come or gone whose name
 * stands in it. Costs O(problems) else.
 */
export const complaintsOfSource = (
  before: { readonly ofSource: SourceComplaints; readonly names: JudgedNames },
  problems: ReadonlyArray<SourceProblem>,
  judged: JudgedNames,
): SourceComplaints => {
  const { ofSource } = before
  const isSame =
    ofSource.problems === problems &&
    (problems.length === 0 ||
      !changedKeys(before.names, judged).some((name) => ofSource.names.has(name)))
  if (isSame) return ofSource
  const messages = new Map<string, string>()
  for (const problem of problems) {
    const { where } = problem
    const others = messages.get(where)
    const message = problemWords(problem, (name) => judged.has(name))
    messages.set(where, others === undefined ? message : `${others}; ${message}`)
  }
  const names = new Set(problems.flatMap(({ key }) => (key === undefined ? [] : showKey(key))))
  return { problems, names, messages }
}
