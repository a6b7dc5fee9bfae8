import { kindOf } from './history.js'
import { type Judgement, laws, type Tally, type Violation } from './judge.js'

/** One line: how many answers each Envoy gave, and what was wrong with how many. */
export const summaryOf = (
  seed: number,
  { tallies, violations, publishedForms }: Judgement,
): string =>
  [
    `churn with seed ${seed}, ${publishedForms} forms`,
    ...[...tallies].map(
      ([envoy, tally]) =>
        `${envoy}: ${showTally(tally)}; ${showBroken(violations.filter(({ answer }) => answer.envoy === envoy))}`,
    ),
  ].join(' | ')

const showTally = ({
  answers,
  delayed,
  owed,
  barred,
  flips,
  kinds,
  programmedForms,
}: Tally): string =>
  `${answers} answers (${[...kinds]
    .sort()
    .map(([kind, count]) => `${count} × ${kind}`)
    .join(', ')}), ` +
  `${delayed} delayed, ${owed} owed 200, ${barred} barred from it, ${flips} flips, ${programmedForms} forms ACKed`

const showBroken = (violations: ReadonlyArray<Violation>): string => {
  const counts = new Map<string, number>()
  for (const { law, answer } of violations) {
    const key = `${law} ${kindOf(answer.outcome)}${answer.delayed ? ' delayed' : ''}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const parts = [...counts].sort().map(([key, count]) => `${count} × ${key}`)
  return parts.length === 0 ? 'no law broken' : `BROKEN: ${parts.join(', ')}`
}

/** The first few of each law, a line each, for people. */
export const showViolations = (
  violations: ReadonlyArray<Violation>,
  eachAtMost = 5,
): ReadonlyArray<string> =>
  laws.flatMap((law) =>
    violations
      .filter((violation) => violation.law === law)
      .slice(0, eachAtMost)
      .map(showViolation),
  )

const showViolation = ({ law, answer }: Violation): string => {
  const { envoy, connection, prefix, sentMs, doneMs, delayed, outcome } = answer
  const detail =
    outcome._tag === 'Status' ? ` ${outcome.backend ?? ''}${outcome.body ?? ''}`.trimEnd() : ''
  const times = `${sentMs.toFixed(0)}–${doneMs.toFixed(0)} ms${delayed ? ', delayed' : ''}`
  return `${law}: ${envoy} #${connection} ${prefix} at ${times}: ${kindOf(outcome)}${detail}`
}
