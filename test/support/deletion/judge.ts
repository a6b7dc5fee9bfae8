import type { Arrival } from './backends.js'
import type { Shot } from './load.js'
import type { Recorded } from './recording-proxy.js'

/**
 * The requests for a path that were sent after a time (`performance.now()`) and have reached a backend, or were
 * answered as if the route were there. What is judged is what the backends have written down, what the Envoys have
 * answered, and when the client had sent that.
 */
export const servedAfter = (
  arrivals: ReadonlyArray<Arrival>,
  shots: ReadonlyArray<Shot>,
  path: string,
  afterMs: number,
): ReadonlyArray<Shot> => {
  const reached = new Set(
    arrivals.filter((arrival) => arrival.path === path).map(({ request }) => request),
  )
  return shots.filter(
    (shot) =>
      shot.path === path &&
      shot.sentMs > afterMs &&
      (reached.has(shot.request) || shot.answer.startsWith('200')),
  )
}

/** When an Envoy has accepted tables, on its last stream before a time, that all lack an object. */
export interface Proof {
  readonly node: string
  /** `undefined` if it has not: some table that it was sent there and has not replaced has the object, or none came. */
  readonly atMs: number | undefined
}

/** What went through the proxy, read as a proof that an object is gone; of each node its last stream counts. */
export const proofsIn = (
  records: ReadonlyArray<Recorded>,
  object: string,
  beforeMs: number,
): ReadonlyArray<Proof> => {
  const streams = new Map<string, number>()
  const past = records.filter(({ atMs }) => atMs <= beforeMs)
  for (const record of past)
    if (record._tag === 'Identified') streams.set(record.node, record.stream)
  return [...streams].map(([node, stream]) => ({
    node,
    atMs: proofOn(
      past.filter((record) => record.stream === stream),
      object,
    ),
  }))
}

const proofOn = (records: ReadonlyArray<Recorded>, object: string): number | undefined => {
  /** The tables that the Envoy was sent last, and when it accepted them. */
  const tables = new Map<
    string,
    { readonly nonce: string; readonly has: boolean; readonly ackedMs?: number }
  >()
  for (const record of records) {
    if (record._tag === 'Sent')
      for (const { name, objects } of record.tables)
        keep(tables, name, { nonce: record.nonce, has: objects.has(object) })
    if (record._tag === 'Acked')
      for (const [name, table] of tables)
        if (table.nonce === record.nonce) tables.set(name, { ...table, ackedMs: record.atMs })
  }
  const all = [...tables.values()]
  if (all.length === 0 || all.some(({ has, ackedMs }) => has || ackedMs === undefined))
    return undefined
  return Math.max(...all.map(({ ackedMs }) => ackedMs ?? 0))
}

/** A table that is sent once more without the object does not undo what was accepted without it. */
const keep = <A extends { readonly has: boolean; readonly ackedMs?: number }>(
  tables: Map<string, A>,
  name: string,
  next: A,
): void => {
  const before = tables.get(name)
  const isProven = before?.ackedMs !== undefined && !before.has && !next.has
  if (!isProven) tables.set(name, next)
}
