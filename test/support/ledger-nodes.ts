import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { Ledger, LedgerNode, Refusal } from '../../src/core/ledger.js'
import * as PM from '../../src/core/persistent-map.js'
import { type Snapshot, viewOf } from '../../src/core/snapshot.js'
import { translate, type Translation } from '../../src/core/translate.js'
import { listenerType, routeType } from '../../src/core/type-url.js'

export const dataPlane = 'edge-envoy'

/** A route whose form in the tables tells its generation, and that no other route is in conflict with. */
export const aRoute = (name: string, generation: number): EdgeRoute => ({
  metadata: { namespace: 'test', name, uid: name, generation, finalizers: [] },
  spec: {
    matches: [{ path: { prefix: `/${name}` } }],
    respond: { code: 200, body: `${name} ${generation}` },
  },
})

/** Routes by name, each in the form of a generation. */
export type Forms = Readonly<Record<string, number>>

/** What is published with these routes. Equal ones get the very same, as long as it is kept. */
export const worldOf = (forms: Forms): Translation => {
  const key = JSON.stringify(Object.entries(forms).sort())
  const known = worlds.get(key)
  if (known !== undefined) return known
  if (worlds.size >= maxWorlds) worlds.clear()
  const routes = Object.entries(forms).map(([name, generation]) => aRoute(name, generation))
  const made = translate(routes)
  worlds.set(key, made)
  return made
}

/** How many are kept: a translation takes longer than all else that a property does with it. */
const maxWorlds = 2_000
const worlds = new Map<string, Translation>()

export interface NodeOptions {
  readonly id?: string
  /** Of one that is lost `undefined`. */
  readonly stream: string | undefined
  /** The routes in the table that it has accepted; `undefined` if it has accepted none. */
  readonly holds: Forms | undefined
  /** What it refuses: a message for each uid. */
  readonly refuses?: Readonly<Record<string, string>>
  readonly dataPlane?: string
  /** Nobody knows what it holds, as of one that is on the roster only; false if absent. */
  readonly isUnknown?: boolean
  /** What it says of the listener `http`; if absent it asks for no listeners, and has its own. */
  readonly listens?: Listens
}

export interface Listens {
  /** It has accepted some form of it. */
  readonly isAccepted: boolean
  /** It refuses the present form, with this message. */
  readonly refuses?: string | undefined
}

export const aNode = (options: NodeOptions): LedgerNode => {
  const { stream, holds, refuses = {}, listens, id = `node-${stream}` } = options
  const place = options.dataPlane ?? dataPlane
  const acked = holds && viewOf(worldOf(holds).snapshot, dataPlane)[routeType]
  const refusals = Object.entries(refuses).map<Refusal>(([uid, message]) => ({
    node: id,
    typeUrl: routeType,
    name: uid,
    owners: [uid],
    message,
  }))
  if (listens?.refuses !== undefined)
    refusals.push({
      node: id,
      typeUrl: listenerType,
      name: 'http',
      owners: [],
      message: listens.refuses,
    })
  return {
    id,
    node: { id, cluster: place },
    dataPlane: place,
    connected: stream !== undefined,
    isShared: false,
    stream,
    holdings:
      stream === undefined
        ? {}
        : { [routeType]: { acked, unsure: undefined }, ...(listens && listenersOf(listens)) },
    inFlight: {},
    tables: PM.fromEntries(
      [...PM.entries(acked)].map((accepted) => ({
        name: accepted.name,
        accepted,
        forms: [],
        isUnknown: false,
        isAtomic: false,
        isSettling: false,
      })),
    ),
    isUnknown: options.isUnknown ?? false,
    refusals: stream === undefined ? [] : refusals,
  }
}

const listenersOf = ({ isAccepted }: Listens): LedgerNode['holdings'] => {
  const published = viewOf(worldOf({}).snapshot, dataPlane)[listenerType]
  return { [listenerType]: { acked: isAccepted ? published : undefined, unsure: undefined } }
}

export const aLedger = (
  snapshot: Snapshot | undefined,
  nodes: ReadonlyArray<NodeOptions>,
): Ledger => ({ snapshot, forgotten: 0, returns: 0, nodes: nodes.map(aNode) })
