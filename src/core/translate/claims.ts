import type { Rule, RuleMatch } from '../rule.js'
import type { Acceptance, Claim, LostClaim } from '../verdict.js'

/** A claim that its rule has got, and serves. */
export interface Granted {
  readonly rule: Rule
  readonly host: string
  readonly match: RuleMatch
  /** The claim as text: equal claims have equal keys. */
  readonly claim: string
}

export interface Allotment {
  /** In the order of the rules. */
  readonly granted: ReadonlyArray<Granted>
  /** The rules that have got at least one claim. */
  readonly serving: ReadonlyArray<Rule>
  /** By the uid of the owner. */
  readonly outcomes: ReadonlyMap<string, Acceptance>
}

/**
 * Gives every claim to the first rule that makes it. The rules come senior first.
 */
export const allotClaims = (rules: ReadonlyArray<Rule>): Allotment => {
  const winners = new Map<string, Rule>()
  const granted: Array<Granted> = []
  const serving: Array<Rule> = []
  const outcomes = new Map<string, Acceptance>()
  for (const rule of rules) {
    const { mine, lost } = contend(rule, winners)
    for (const grant of mine) {
      winners.set(grant.claim, rule)
      granted.push(grant)
    }
    if (mine.length > 0) serving.push(rule)
    outcomes.set(
      rule.owner.uid,
      lost.length === 0 ? { _tag: 'Accepted' } : { _tag: 'Conflicted', lost, kept: mine.length },
    )
  }
  return { granted, serving, outcomes }
}

interface Contest {
  readonly mine: ReadonlyArray<Granted>
  readonly lost: ReadonlyArray<LostClaim>
}

const contend = (rule: Rule, winners: ReadonlyMap<string, Rule>): Contest => {
  const mine: Array<Granted> = []
  const lost: Array<LostClaim> = []
  for (const host of rule.hosts)
    for (const match of rule.matches) {
      const claim = claimKey(host, match)
      const winner = winners.get(claim)
      if (winner === undefined) mine.push({ rule, host, match, claim })
      else lost.push({ claim: claimOf(host, match), winner: winner.owner.key })
    }
  return { mine, lost }
}

const claimOf = (host: string, { path, method, headers, query }: RuleMatch): Claim => ({
  host,
  path,
  method,
  headers,
  query,
})

const claimKey = (host: string, { path, method, headers, query }: RuleMatch): string =>
  JSON.stringify([
    host,
    path._tag,
    path.value,
    method ?? null,
    headers.map(predicateKey),
    query.map(predicateKey),
  ])

const predicateKey = (predicate: RuleMatch['headers'][number]): ReadonlyArray<string> =>
  predicate._tag === 'Present'
    ? [predicate.name, predicate._tag]
    : [predicate.name, predicate._tag, predicate.value]
