/**
 * What may have been the reason of a refusal: one resource, or one object in the route tables.
 */
export interface Unit {
  readonly kind: UnitKind
  /** The name of the resource, or the uid of the object. */
  readonly name: string
  /** Which form of it: another one is another unit. */
  readonly version: string
}

/**
 * A resource as a whole; an object in its present form; an object whose claims are all that is left of
 * it, because its present form was refused.
 */
export type UnitKind = 'Resource' | 'Owner' | 'Claims'

/** What was refused alone, so that there is no doubt. */
export interface Conviction {
  readonly unit: Unit
  readonly evidence: Evidence
  /** How often it was refused. */
  readonly times: number
}

/** What speaks against something. */
export interface Evidence {
  /** In the client's own words, or in ours where it said nothing. */
  readonly message: string
  /** The client has refused it; or has not answered for too long; or has said nothing at all since. */
  readonly kind: 'Refused' | 'Stalled' | 'Silent'
  /** When that was, in milliseconds. */
  readonly nowMs: number
}

/**
 * The search for what a client refuses, among all that was in a refused response.
 *
 * A stack of groups. The one on top is tried next, alone: if the client accepts it all of it is innocent,
 * if it refuses it there is a culprit in it, which is found by halving. Costs about log2(n) responses for each
 * culprit among n. Nobody is convicted but by a refusal that concerned it alone, so that the verdict holds even
 * where several are bad, or only bad together.
 */
export interface Search {
  readonly groups: ReadonlyArray<Group>
  /**
   * What this search has found to be taken so far, all of it together. Where a trial leaves nothing behind in the
   * client this is tried along with the next one, so that what is bad together is found: the last of it is convicted.
   */
  readonly taken: ReadonlyArray<Unit>
  /** What is innocent and the search take turns. */
  readonly isTrialNext: boolean
  readonly convicted: ReadonlyMap<string, Conviction>
  /** What was convicted and is not wanted at the moment: if it comes back it is known. */
  readonly past: ReadonlyArray<Conviction>
}

/** How many past convictions are kept: what goes to and fro is among the latest. */
const maxPast = 64

interface Group {
  readonly units: ReadonlyArray<Unit>
  /** True if a response with it was refused, and nothing else can have been the reason. */
  readonly isGuilty: boolean
  /** The first half of a guilty group: if it is innocent the group below is guilty. */
  readonly isHalf: boolean
}

export const noSearch: Search = {
  groups: [],
  taken: [],
  isTrialNext: true,
  convicted: new Map(),
  past: [],
}

/**
 * What tells units apart. Of a resource there is one form at a time; of an object there may be several, in tables
 * that hold different parts of it.
 */
export const keyOf = ({ kind, name, version }: Unit): string =>
  kind === 'Resource' ? resourceKey(name) : `${kind} ${version} ${name}`

export const resourceKey = (name: string): string => `Resource ${name}`

export const isSearching = ({ groups }: Pick<Search, 'groups'>): boolean => groups.length > 0

/** Everything that stands in a group: not to be sent but in a trial. */
export const suspectsOf = ({ groups }: Pick<Search, 'groups'>): ReadonlyArray<Unit> =>
  groups.flatMap(({ units }) => units)

/**
 * Takes in that a response was refused in which these were new, or were tried. A single one is convicted; several
 * leave the groups in which they stand, and are one that is guilty.
 */
export const accuse = (search: Search, units: ReadonlyArray<Unit>, evidence: Evidence): Search => {
  const [only] = units
  if (only === undefined) return search
  const others = without(begun(search), units)
  if (units.length === 1) return convict(others, only, evidence)
  return { ...others, groups: [...ordered(units, evidence.message), ...others.groups] }
}

/** What an earlier search has found says nothing of what was sent since. */
const begun = (search: Search): Search => (isSearching(search) ? search : { ...search, taken: [] })

/**
 * Takes in a refusal by a client of which nobody knows what it held before, where to try a half would take the
 * other half from it: only what it names is convicted.
 */
export const accuseNamed = (
  search: Search,
  units: ReadonlyArray<Unit>,
  evidence: Evidence,
): Search =>
  units
    .filter(({ name }) => mentions(evidence.message, name))
    .reduce((soFar, unit) => convict(soFar, unit, evidence), search)

/** Envoy names culprits where it applies a response piece by piece: what it names is tried first. */
const ordered = (units: ReadonlyArray<Unit>, message: string): ReadonlyArray<Group> => {
  const named = units.filter(({ kind, name }) => kind === 'Resource' && mentions(message, name))
  if (named.length === 0 || named.length === units.length)
    return [{ units, isGuilty: true, isHalf: false }]
  const others = units.filter((unit) => !named.includes(unit))
  return [
    { units: named, isGuilty: false, isHalf: true },
    { units: others, isGuilty: false, isHalf: false },
  ]
}

/** True if the message has the name, and not only as a part of another one. */
export const mentions = (message: string, name: string): boolean => {
  if (name === '') return false
  for (let at = message.indexOf(name); at !== -1; at = message.indexOf(name, at + 1)) {
    const before = message.slice(0, at)
    const after = message.slice(at + name.length)
    if (!/[\w.~/-]$|\w:$/.test(before) && !/^([\w.~/-]|:\w)/.test(after)) return true
  }
  return false
}

/** The next group to try, on top of the search that is returned; `undefined` if there is none left. */
export const nextTrial = (
  search: Search,
  isCurrent: (unit: Unit) => boolean,
): readonly [Search, ReadonlyArray<Unit> | undefined] => {
  const [top, ...below] = search.groups
  if (top === undefined) return [search, undefined]
  const units = top.units.filter(isCurrent)
  if (units.length === 0) return nextTrial({ ...search, groups: below }, isCurrent)
  if (top.isGuilty && units.length > 1) {
    const middle = units.length >>> 1
    const halves: ReadonlyArray<Group> = [
      { units: units.slice(0, middle), isGuilty: false, isHalf: true },
      { units: units.slice(middle), isGuilty: false, isHalf: false },
    ]
    return nextTrial({ ...search, groups: [...halves, ...below] }, isCurrent)
  }
  const groups = top.isGuilty || top.isHalf ? search.groups : mergeInnocent(search.groups)
  const [merged, ...rest] = groups
  if (merged === undefined) return [search, undefined]
  const trial = merged.units.filter(isCurrent)
  return [{ ...search, groups: [{ ...merged, units: trial }, ...rest] }, trial]
}

/** Leaves of the group on top only some to be tried now: the others are left for another trial. */
export const narrow = (
  search: Search,
  isTried: (unit: Unit) => boolean,
): readonly [Search, ReadonlyArray<Unit>] => {
  const [top, ...below] = search.groups
  if (top === undefined) return [search, []]
  const [tried, others] = [top.units.filter(isTried), top.units.filter((unit) => !isTried(unit))]
  if (others.length === 0 || tried.length === 0) return [search, top.units]
  const groups: ReadonlyArray<Group> = [
    { units: tried, isGuilty: false, isHalf: top.isGuilty },
    { units: others, isGuilty: false, isHalf: top.isHalf },
  ]
  return [{ ...search, groups: [...groups, ...below] }, tried]
}

/** Groups of which nothing is known are tried together. */
const mergeInnocent = (groups: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  const end = groups.findIndex(({ isGuilty, isHalf }) => isGuilty || isHalf)
  const unknown = end === -1 ? groups : groups.slice(0, end)
  const rest = end === -1 ? [] : groups.slice(end)
  return [{ units: unknown.flatMap(({ units }) => units), isGuilty: false, isHalf: false }, ...rest]
}

/** Nothing stands in two groups: what is found of it would not count in the other. Nor is it known to be taken. */
const without = (search: Search, units: ReadonlyArray<Unit>): Search => {
  const keys = new Set(units.map(keyOf))
  const isOther = (unit: Unit): boolean => !keys.has(keyOf(unit))
  return { ...keepOnly(search, isOther), taken: search.taken.filter(isOther) }
}

/** Suspects only those of whom this is true; not to be called while a trial is out. */
export const keepOnly = (search: Search, isSuspect: (unit: Unit) => boolean): Search => {
  if (search.groups.length === 0) return search
  const groups = search.groups.flatMap((group) => {
    const left = group.units.filter(isSuspect)
    if (left.length === group.units.length) return [group]
    // Without one of them nobody knows whether the guilt is still among the others.
    return left.length === 0 ? [] : [{ units: left, isGuilty: false, isHalf: false }]
  })
  return { ...search, groups }
}

/**
 * True if this is still the group on top: the answer to an older response may have changed the groups while the
 * trial was out, and then it speaks of none of them.
 */
const isOnTop = ({ groups }: Search, trial: ReadonlyArray<Unit>): boolean => {
  const units = groups[0]?.units ?? []
  const tried = new Set(trial.map(keyOf))
  return units.length === trial.length && units.every((unit) => tried.has(keyOf(unit)))
}

/** The client has accepted what was tried: the group on top. */
export const acquit = (search: Search, trial: ReadonlyArray<Unit>): Search => {
  if (!isOnTop(search, trial)) return search
  const [top, next, ...below] = search.groups
  if (top === undefined || next === undefined) return { ...search, groups: [], taken: [] }
  return {
    ...search,
    groups: [top.isHalf ? { ...next, isGuilty: true } : next, ...below],
    taken: [...search.taken, ...trial],
  }
}

const convict = (search: Search, unit: Unit, evidence: Evidence): Search => {
  const before = search.convicted.get(keyOf(unit))
  const times = before?.unit.version === unit.version ? before.times + 1 : 1
  const conviction: Conviction = { unit, evidence, times }
  const isOther = before !== undefined && before.unit.version !== unit.version
  return {
    ...search,
    convicted: new Map(search.convicted).set(keyOf(unit), conviction),
    past: isOther ? [...search.past, before].slice(-maxPast) : search.past,
  }
}

/** Takes a unit that was convicted before into the search again, to be tried alone. */
export const retry = (search: Search, unit: Unit): Search => ({
  ...begun(search),
  groups: [{ units: [unit], isGuilty: true, isHalf: false }, ...without(search, [unit]).groups],
})

/** The group on top needs no answer, since nothing of it is to be sent: what is to be tried again waits once more. */
export const skip = (search: Search, nowMs: number): Search => {
  const [top] = search.groups
  const convicted = new Map(search.convicted)
  for (const unit of top?.units ?? []) {
    const before = convicted.get(keyOf(unit))
    if (before !== undefined)
      convicted.set(keyOf(unit), { ...before, evidence: { ...before.evidence, nowMs } })
  }
  return { ...acquit(search, top?.units ?? []), taken: search.taken, convicted }
}

/** What a conviction is worth at the moment. */
export type Standing = 'Current' | 'Past' | 'Void'

/** Sorts the convictions by what they are worth: what is wanted no more may come back, and is known then. */
export const review = (
  search: Search,
  standingOf: (conviction: Conviction) => Standing,
): Search => {
  const all = [...search.past, ...search.convicted.values()]
  if (all.length === 0) return search
  const isSame =
    [...search.convicted.values()].every((each) => standingOf(each) === 'Current') &&
    search.past.every((each) => standingOf(each) === 'Past')
  if (isSame) return search
  const of = (standing: Standing): ReadonlyArray<Conviction> =>
    all.filter((each) => standingOf(each) === standing)
  return {
    ...search,
    convicted: new Map(of('Current').map((each) => [keyOf(each.unit), each])),
    past: of('Past').slice(-maxPast),
  }
}

/** Forgets convictions, past ones too. */
export const pardon = (search: Search, isPardoned: (unit: Unit) => boolean): Search =>
  review(search, (each) => {
    if (isPardoned(each.unit)) return 'Void'
    return search.convicted.get(keyOf(each.unit)) === each ? 'Current' : 'Past'
  })
