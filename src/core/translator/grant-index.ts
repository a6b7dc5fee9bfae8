import type { Digest } from '../digest.js'
import { exactSize } from '../order.js'
import type { Fragment, Uid } from '../resource.js'
import type { Rule, Target } from '../rule.js'
import { claimsOf, type RuleClaim } from '../translate/claims.js'
import { type ClusterNames, targetsOf } from '../translate/clusters.js'
import { seniorityOf } from '../translate/precedence.js'
import { type Encoder, encoderOf } from '../translate/routes.js'
import { claimIndex, type Contender, type Turn } from './claim-index.js'
import type { TableIndex } from './table-index.js'

/** A rule at work. */
export interface Standing {
  readonly rule: Rule
  readonly targets: ReadonlyArray<Target>
  /** How many claims it has got. */
  grants: number
  /** True while its targets are counted as used. */
  serves: boolean
}

export interface Claimant extends Contender {
  readonly standing: Standing
}

/** The claims of a data plane: who has them, and how they stand in the tables. */
export interface GrantIndex {
  readonly add: (claimant: Claimant) => void
  readonly remove: (claimant: Claimant) => void
  readonly winnerOf: (claim: Digest) => RuleClaim | undefined
  /** Brings the tables up to date. */
  readonly settle: () => GrantChanges
}

export interface GrantChanges {
  /** The objects that have a claim of which another object is the winner now. */
  readonly judged: ReadonlySet<Uid>
  /** The rules that have got their first claim, or lost the last. */
  readonly turned: ReadonlyArray<Standing>
}

/** Begins with no claims. A change costs what the claims cost that it touches. */
export const grantIndex = (
  tables: Pick<TableIndex, 'put' | 'drop'>,
  clusterName: ClusterNames,
): GrantIndex => {
  const claims = claimIndex<Claimant>()
  const live = new Map<Digest, Fragment>()
  const replace = ({ claim, after }: Turn<Claimant>, encode: FragmentOf): void => {
    const before = live.get(claim)
    const next = after && encode(after)
    if (before !== undefined && next !== undefined && isSameForm(before, next)) return
    if (before !== undefined) tables.drop(before)
    if (next !== undefined) {
      tables.put(next)
      live.set(claim, next)
    } else live.delete(claim)
  }
  return {
    add: claims.add,
    remove: claims.remove,
    winnerOf: (claim) => claims.winnerOf(claim)?.made,
    settle: () => {
      const judged = new Set<Uid>()
      const counted = new Set<Standing>()
      const encode = encoding(clusterName)
      for (const turn of claims.turns()) {
        replace(turn, encode)
        for (const uid of losers(turn)) judged.add(uid)
        count(counted, turn.before?.standing, -1)
        count(counted, turn.after?.standing, 1)
      }
      const turned = [...counted].filter(({ serves, grants }) => serves !== grants > 0)
      for (const standing of turned) standing.serves = !standing.serves
      return { judged, turned }
    },
  }
}

type FragmentOf = (claimant: Claimant) => Fragment

/** What rules say of all their claims is encoded once, and not kept: of most claims there is one. */
const encoding = (clusterName: ClusterNames): FragmentOf => {
  const encoders = new Map<Rule, Encoder>()
  return ({ made, standing: { rule } }) => {
    const encode = encoders.get(rule) ?? encoderOf(rule, clusterName)
    encoders.set(rule, encode)
    return encode(made)
  }
}

/** The claims of an object, in their order. */
export const claimantsOf = (rules: ReadonlyArray<Rule>): ReadonlyArray<Claimant> => {
  const claimants: Array<Claimant> = []
  for (const rule of rules) {
    const standing = { rule, targets: targetsOf(rule), grants: 0, serves: false }
    const rank = seniorityOf(rule.owner)
    for (const made of claimsOf(rule))
      claimants.push({ made, rank, place: claimants.length, standing })
  }
  return exactSize(claimants)
}

const count = (changed: Set<Standing>, standing: Standing | undefined, by: 1 | -1): void => {
  if (standing === undefined) return
  standing.grants += by
  changed.add(standing)
}

/** Those who hear that a claim belongs to another object than before. */
const losers = ({ before, after, contenders }: Turn<Claimant>): ReadonlyArray<Uid> =>
  before !== undefined && after !== undefined && isSameOwner(before.made.rule, after.made.rule)
    ? []
    : contenders.map(({ made }) => made.rule.owner.uid)

const isSameOwner = ({ owner: a }: Rule, { owner: b }: Rule): boolean =>
  a.uid === b.uid && a.key.namespace === b.key.namespace && a.key.name === b.key.name

/** Of one claim: the same object has it, in the same place and with the same bytes. */
const isSameForm = (a: Fragment, b: Fragment): boolean =>
  a.version === b.version && a.owner === b.owner && a.sortKey === b.sortKey
