import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { inOrder, maxIdLength, maxRosterNodes, type Roster, type RosterEntry } from '../roster.js'
import { isTypeUrl, type TypeUrl, typeUrls } from '../type-url.js'

/** The form in which rosters are written. A change that older readers would misunderstand is another one. */
export const rosterVersion: number = 1

/**
 * How large an encoded roster may be, in UTF-16 code units: several times one of `maxRosterNodes` with ids of
 * an ordinary length, and written within a second.
 */
export const maxRosterLength: number = 64 * 1024 * 1024

/**
 * A roster as text; a left, for people, if it is too large to be written down.
 *
 * JSON, one node and one list of names per line, in the order of the ids: equal rosters are equal texts. Nodes
 * share their lists, since what one Envoy of a fleet refuses all others refuse too.
 */
export const encodeRoster = (roster: Roster): E.Either<string, string> => {
  if (roster.size > maxRosterNodes) return E.left(tooManyNodes(roster.size))
  const lists = new Map<string, number>()
  /** The numbers of lists by what they are, not by what is in them: to compare a thousand names is dear. */
  const numbers = new Map<ReadonlyArray<string>, Partial<Record<TypeUrl, number>>>()
  const numberOf = (typeUrl: TypeUrl, names: ReadonlyArray<string>): number => {
    const same = numbers.get(names)
    const known = same?.[typeUrl]
    if (known !== undefined) return known
    const list = JSON.stringify([typeUrl, names])
    const number = lists.get(list) ?? lists.size
    lists.set(list, number)
    numbers.set(names, { ...same, [typeUrl]: number })
    return number
  }
  const nodes = inOrder(roster).map(({ id, cluster, sinceMs, isShared, doubts }) =>
    JSON.stringify({
      id,
      cluster,
      sinceMs,
      isShared,
      doubts: typeUrls.flatMap((typeUrl) => {
        const names = doubts[typeUrl] ?? []
        return names.length === 0 ? [] : [numberOf(typeUrl, names)]
      }),
    }),
  )
  const text = `{"version":${rosterVersion},"doubts":${lines([...lists.keys()])},"nodes":${lines(nodes)}}\n`
  return text.length > maxRosterLength ? E.left(tooLarge) : E.right(text)
}

const lines = (items: ReadonlyArray<string>): string =>
  items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n]`

const tooManyNodes = (count: number): string =>
  `${count} Envoys are on the roster, more than ${maxRosterNodes}: forget those that are gone, ` +
  'or have lost ones forgotten after a time'

const tooLarge = `the roster is larger than ${maxRosterLength / 1024 / 1024} MiB: forget Envoys that are gone`

/** Reads what `encodeRoster` has written; a left says what is wrong, and what to do where that is known. */
export const decodeRoster = (text: string): E.Either<string, Roster> => {
  if (text.length > maxRosterLength) return E.left(tooLarge)
  const json = E.tryCatch(
    (): unknown => JSON.parse(text),
    () => 'it is no JSON, or was cut off',
  )
  if (E.isLeft(json)) return json
  const header = Header.decode(json.right)
  if (E.isLeft(header)) return E.left(`it is no roster: ${where(header.left)} is missing or wrong`)
  if (header.right.version !== rosterVersion) return E.left(unknownVersion(header.right.version))
  const written = Written.decode(json.right)
  if (E.isLeft(written)) return E.left(`${where(written.left)} is missing or wrong`)
  return rosterIn(written.right)
}

const unknownVersion = (version: number): string =>
  `it is of version ${version}, and this edgewright knows version ${rosterVersion} only: ` +
  'run the edgewright that has written it, or a newer one'

const Count = t.refinement(t.number, (value) => Number.isSafeInteger(value) && value >= 0, 'Count')
const Name = t.refinement(t.string, ({ length }) => length <= maxIdLength, 'Name')
const Type = new t.Type<TypeUrl>(
  'TypeUrl',
  (value): value is TypeUrl => typeof value === 'string' && isTypeUrl(value),
  (value, context) =>
    typeof value === 'string' && isTypeUrl(value) ? t.success(value) : t.failure(value, context),
  t.identity,
)
const Time = t.refinement(t.number, (value) => Number.isFinite(value), 'Time')

const Header = t.type({ version: Count })
const Written = t.type({
  doubts: t.array(t.tuple([Type, t.array(t.string)])),
  nodes: t.array(
    t.type({
      id: Name,
      cluster: Name,
      sinceMs: Time,
      isShared: t.boolean,
      doubts: t.array(Count),
    }),
  ),
})

const rosterIn = ({ nodes, doubts: lists }: t.TypeOf<typeof Written>): E.Either<string, Roster> => {
  if (nodes.length > maxRosterNodes) return E.left(tooManyNodes(nodes.length))
  const roster = new Map<string, RosterEntry>()
  for (const { id, cluster, sinceMs, isShared, doubts: numbers } of nodes) {
    if (roster.has(id)) return E.left(`the id ${JSON.stringify(id)} stands in it twice`)
    const doubts: Partial<Record<TypeUrl, ReadonlyArray<string>>> = {}
    for (const number of numbers) {
      const list = lists[number]
      if (list === undefined) return E.left(`doubts/${number}, which a node names, is missing`)
      doubts[list[0]] = list[1]
    }
    roster.set(id, { id, cluster, sinceMs, isShared, doubts })
  }
  return E.right(roster)
}

/** The place of the first error, as in `nodes/3/id`. */
const where = ([error]: t.Errors): string => {
  const path = (error?.context ?? []).map(({ key }) => key).filter((key) => key !== '')
  return path.length === 0 ? 'the whole' : path.join('/')
}
