import { matchKey } from '../codec/canonical.js'
import { type Digest, digestStrings } from '../digest.js'
import type { Rule, RuleMatch } from '../rule.js'
import type { Acceptance, LostClaim } from '../verdict.js'

/** A claim that its rule has got, and serves. */
export interface Granted {
  readonly rule: Rule
  readonly host: string
  readonly match: RuleMatch
  /** Equal for equal claims. */
  readonly claim: Digest
}

export interface Allotment {
  /** In the order of the rules. */
  readonly granted: ReadonlyArray<Granted>
  /** The rules that have got at least one claim. */
  readonly serving: ReadonlyArray<Rule>
  /** By the uid of the owner, whose rules are judged together. */
  readonly outcomes: ReadonlyMap<string, Acceptance>
}

/** How many lost claims a verdict names: enough for a person to see the pattern; the rest is counted. */
const maxNamedClaims = 16

/**
 * Gives every claim to the first rule that makes it. The rules come senior first.
 *
 * An object never competes with itself: of two of its rules that claim the same, the first has the claim, and the
 * object has lost nothing.
 */
export const allotClaims = (rules: ReadonlyArray<Rule>): Allotment => {
  const winners = new Map<Digest, Rule>()
  const granted: Array<Granted> = []
  const serving: Array<Rule> = []
  const scores = new Map<string, Score>()
  for (const rule of rules) {
    const { mine, score } = contend(rule, winners)
    for (const grant of mine) {
      winners.set(grant.claim, rule)
      granted.push(grant)
    }
    if (mine.length > 0) serving.push(rule)
    scores.set(rule.owner.uid, sum(scores.get(rule.owner.uid) ?? noScore, score))
  }
  const outcomes = new Map([...scores].map(([uid, score]) => [uid, outcomeOf(score)]))
  return { granted, serving, outcomes }
}

/** How an object fares. */
interface Score {
  readonly kept: number
  readonly lost: ReadonlyArray<LostClaim>
  readonly lostCount: number
}

const noScore: Score = { kept: 0, lost: [], lostCount: 0 }

const sum = (a: Score, b: Score): Score => ({
  kept: a.kept + b.kept,
  lost: [...a.lost, ...b.lost].slice(0, maxNamedClaims),
  lostCount: a.lostCount + b.lostCount,
})

const outcomeOf = (score: Score): Acceptance =>
  score.lostCount === 0 ? { _tag: 'Accepted' } : { _tag: 'Conflicted', ...score }

interface Contest {
  readonly mine: ReadonlyArray<Granted>
  readonly score: Score
}

const contend = (rule: Rule, winners: ReadonlyMap<Digest, Rule>): Contest => {
  const mine: Array<Granted> = []
  const lost: Array<LostClaim> = []
  let lostCount = 0
  const matches = rule.matches.map((match) => ({ match, key: matchKey(match) }))
  for (const host of rule.hosts)
    for (const { match, key } of matches) {
      const claim = digestStrings(host, key)
      const owner = winners.get(claim)?.owner
      if (owner === undefined) mine.push({ rule, host, match, claim })
      else if (owner.uid !== rule.owner.uid) {
        lostCount += 1
        if (lost.length < maxNamedClaims)
          lost.push({ claim: { host, ...match }, winner: owner.key })
      }
    }
  return { mine, score: { kept: mine.length, lost, lostCount } }
}
