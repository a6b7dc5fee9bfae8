import { showKey } from '../../core/edge-route.js'
import { showFieldError } from '../../core/field-error.js'
import { compareStrings } from '../../core/order.js'
import { showVerdict } from '../../core/status.js'
import type { Verdict } from '../../core/verdict.js'
import type { SourceProblem } from '../../ports/route-source.js'

/** What was found in a directory of routes. */
export interface Report {
  readonly problems: ReadonlyArray<SourceProblem>
  readonly verdicts: ReadonlyArray<Verdict>
}

/** True if everything was read, and everything that was read can be served as it stands there. */
export const isRight = ({ problems, verdicts }: Report): boolean =>
  problems.length === 0 && verdicts.every((verdict) => gradeOf(verdict) !== 'error')

/**
 * A report for people: first what could not be read, by file and field, then each route by name,
 * then the sum.
 */
export const showReport = (report: Report): string => {
  const problems = report.problems.map(showProblemLines)
  const routes = [...report.verdicts]
    .sort((a, b) => compareStrings(showKey(a.key), showKey(b.key)))
    .map((verdict) => line(gradeOf(verdict), showKey(verdict.key), showVerdict(verdict)))
  return `${[...problems, ...routes, '', summary(report)].join('\n')}\n`
}

type Grade = 'ok' | 'warning' | 'error'

const gradeOf = ({ accepted, unresolved }: Verdict): Grade => {
  switch (accepted._tag) {
    case 'Accepted':
    case 'Terminating':
      return unresolved.length === 0 ? 'ok' : 'warning'
    case 'Unguarded':
    case 'Invalid':
    case 'UnknownDataPlane':
    case 'Conflicted':
      return 'error'
  }
}

const line = (grade: Grade, subject: string, text: string): string =>
  `${grade.padEnd('warning'.length)}  ${subject}  ${text}`

const showProblemLines = ({ where, key, errors }: SourceProblem): string => {
  const subject = key === undefined ? where : `${where} (${showKey(key)})`
  return errors.map((error) => line('error', subject, showFieldError(error))).join('\n')
}

const summary = ({ problems, verdicts }: Report): string => {
  const count = (grade: Grade): number =>
    verdicts.filter((verdict) => gradeOf(verdict) === grade).length
  const servable = count('ok') + count('warning')
  const served =
    problems.length === 0
      ? `${servable} of ${plural(verdicts.length, 'route')} can be served`
      : `${plural(problems.length, 'problem')} in files; ${servedOfRead(servable, verdicts.length)}`
  const counts = [
    [
      count('warning'),
      'of these has a backend that leads nowhere',
      'of these have a backend that leads nowhere',
    ],
    [
      count('error'),
      'route that cannot be served as it is',
      'routes that cannot be served as they are',
    ],
  ] as const
  const rest = counts.filter(([n]) => n > 0).map(([n, one, many]) => `${n} ${n === 1 ? one : many}`)
  return `${[served, ...rest].join('; ')}.`
}

/** What cannot be read may be any number of routes: they are not among those that are counted. */
const servedOfRead = (servable: number, read: number): string =>
  read === 0
    ? 'no route could be read'
    : `of the ${plural(read, 'route')} that could be read, ${servable} can be served`

const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`
