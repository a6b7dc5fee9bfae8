import type { ConditionDocument } from '../../admin/document.js'
import { countEnvoys } from '../admin/show-node.js'

/** The Envoys that a condition says a deletion waits for. */
export interface WaitedFor {
  /** As many as it names. */
  readonly nodes: ReadonlyArray<string>
  /** How many there are beside them; `undefined` where it does not say, but there are some. */
  readonly others: number | undefined
}

/** What `Deprogrammed=False, WaitingForAck` says: see `showNotYet` in the core, whose words these are. */
const waitingWords = /^not yet confirmed by (?<nodes>.*?)(?: and (?<others>\d+) more)?(?<cut>…)?$/s

/** Reads from an object's conditions which Envoys its deletion waits for; `undefined` if it waits for none. */
export const waitedFor = (conditions: ReadonlyArray<ConditionDocument>): WaitedFor | undefined => {
  const condition = deprogrammed(conditions)
  if (condition?.status !== 'False' || condition.reason !== 'WaitingForAck') return undefined
  const { nodes = '', others = '0', cut } = waitingWords.exec(condition.message)?.groups ?? {}
  const named = nodes === '' ? [] : nodes.split(', ')
  // Of a message that was cut short, the last name is half a name.
  if (cut !== undefined) return { nodes: named.slice(0, -1), others: undefined }
  return { nodes: named, others: named.length === 0 ? undefined : Number(others) }
}

export const deprogrammed = (
  conditions: ReadonlyArray<ConditionDocument>,
): ConditionDocument | undefined => conditions.find(({ type }) => type === 'Deprogrammed')

/** `5 Envoys`. */
export const countWaitedFor = ({ nodes, others }: WaitedFor): string =>
  others === undefined
    ? `at least ${countEnvoys(nodes.length + 1)}`
    : countEnvoys(nodes.length + others)
