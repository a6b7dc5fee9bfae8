import { matchKey } from '../codec/canonical.js'
import { type Digest, digestStrings } from '../digest.js'
import type { Rule, RuleMatch } from '../rule.js'
import type { Acceptance, LostClaim } from '../verdict.js'

/** One claim of a rule: requests that it wants to serve. */
export interface RuleClaim {
  readonly rule: Rule
  readonly host: string
  readonly match: RuleMatch
  /** Equal for equal claims. */
  readonly claim: Digest
}

export interface Allotment {
  /** The claims that their rules have got, in the order of the rules. */
  readonly granted: ReadonlyArray<RuleClaim>
  /** The rules that have got at least one claim. */
  readonly serving: ReadonlyArray<Rule>
  /** By the uid of the owner, whose rules are judged together. */
  readonly outcomes: ReadonlyMap<string, Acceptance>
}

/** How many lost claims a verdict names: enough for a person to see the pattern; the rest is counted. */
const maxNamedClaims = 16

/** All claims of a rule: each of its matches, on each of its hosts. */
export const claimsOf = (rule: Rule): ReadonlyArray<RuleClaim> => {
  const matches = rule.matches.map((match) => ({ match, key: matchKey(match) }))
  return rule.hosts.flatMap((host) =>
    matches.map(({ match, key }) => ({ rule, host, match, claim: digestStrings(host, key) })),
  )
}

/** Gives every claim to the first rule that makes it. The rules come senior first. */
export const allotClaims = (rules: ReadonlyArray<Rule>): Allotment => {
  const winners = new Map<Digest, RuleClaim>()
  const made = new Map<string, Array<RuleClaim>>()
  for (const rule of rules) {
    const claims = claimsOf(rule)
    for (const each of claims) if (!winners.has(each.claim)) winners.set(each.claim, each)
    made.set(rule.owner.uid, [...(made.get(rule.owner.uid) ?? []), ...claims])
  }
  const winnerOf = ({ claim }: RuleClaim): RuleClaim | undefined => winners.get(claim)
  const granted = [...winners.values()]
  return {
    granted,
    serving: [...new Set(granted.map(({ rule }) => rule))],
    outcomes: new Map([...made].map(([uid, claims]) => [uid, outcomeOf(claims, winnerOf)])),
  }
}

/** Of most objects; one for all of them. */
export const accepted: Acceptance = { _tag: 'Accepted' }

/**
 * How an object fares with all its claims, in their order.
 *
 * It never competes with itself: of two of its rules that claim the same, the first has the claim, and the
 * object has lost nothing.
 */
export const outcomeOf = (
  claims: ReadonlyArray<RuleClaim>,
  winnerOf: (claim: RuleClaim) => RuleClaim | undefined,
): Acceptance => {
  const lost: Array<LostClaim> = []
  let lostCount = 0
  let kept = 0
  for (const each of claims) {
    const winner = winnerOf(each)
    if (winner === each) kept += 1
    else if (winner !== undefined && winner.rule.owner.uid !== each.rule.owner.uid) {
      lostCount += 1
      if (lost.length < maxNamedClaims)
        lost.push({ claim: { host: each.host, ...each.match }, winner: winner.rule.owner.key })
    }
  }
  return lostCount === 0 ? accepted : { _tag: 'Conflicted', kept, lost, lostCount }
}
