import fc from 'fast-check'
import type { Context, HttpListener } from '../../src/core/context.js'
import type { EdgeRoute } from '../../src/core/edge-route.js'
import type { Ledger, LedgerNode } from '../../src/core/ledger.js'
import * as PM from '../../src/core/persistent-map.js'
import { lagGraceMs, type Observation } from '../../src/core/programmed.js'
import { type Snapshot, type View, viewOf } from '../../src/core/snapshot.js'
import { translate, type Translation } from '../../src/core/translate.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'
import { listenerType, routeType } from '../../src/core/type-url.js'
import { unsureOf } from '../../src/core/xds/holding.js'
import { aNode } from './ledger-nodes.js'

/** What is seen from one moment to the next, of routes that compete and move, and of Envoys of two data planes. */
export type Event =
  /** A route is there in this form, with another generation or, as if by a bug, with the same one. */
  | { readonly _tag: 'Put'; readonly uid: string; readonly form: Form; readonly isLater: boolean }
  | { readonly _tag: 'Remove'; readonly uid: string }
  /** An Envoy has taken the tables of an earlier snapshot: of the present one at 0. */
  | { readonly _tag: 'Node'; readonly id: string; readonly node: NodeForm }
  | { readonly _tag: 'Gone'; readonly id: string }
  | { readonly _tag: 'Pass'; readonly ms: number }

interface Form {
  readonly dataPlane: string
  /** Several routes may make one claim. */
  readonly paths: ReadonlyArray<string>
  /** Those of an older route win. */
  readonly createdAt: number
  readonly code: number
}

interface NodeForm {
  readonly dataPlane: string
  readonly stream: string | undefined
  /** How many snapshots ago; -1 if it has taken none. */
  readonly age: number
  readonly refuses: ReadonlyArray<string>
  readonly listens: { readonly isAccepted: boolean; readonly refuses: string | undefined }
}

/** How the same is told: as a sequence of changes, or all anew; and what the ledger was given. */
export interface Telling {
  readonly event: Event
  readonly isFresh: boolean
  /** Only the first of the data planes is there. */
  readonly isAlone: boolean
  readonly isLedgerBehind: boolean
}

const uid = fc.constantFrom('r1', 'r2', 'r3', 'r4')
const dataPlane = fc.constantFrom('edge', 'edge', 'inner')

const form: fc.Arbitrary<Form> = fc.record({
  dataPlane: fc.constantFrom('edge', 'edge', 'edge', 'inner', 'nowhere'),
  paths: fc.subarray(['/a', '/b', '/c'], { minLength: 1 }),
  createdAt: fc.constantFrom(1, 2, 3),
  code: fc.constantFrom(200, 410),
})

const node: fc.Arbitrary<NodeForm> = fc.record({
  dataPlane,
  stream: fc.constantFrom('s1', 's1', 's2', undefined),
  age: fc.constantFrom(0, 0, 0, 1, 2, -1),
  refuses: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(['r1', 'r2'])),
  listens: fc.constantFrom(
    { isAccepted: true, refuses: undefined },
    { isAccepted: true, refuses: undefined },
    { isAccepted: true, refuses: undefined },
    { isAccepted: false, refuses: 'port 80 is taken' },
    { isAccepted: false, refuses: 'no such filter' },
  ),
})

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ _tag: fc.constant('Put' as const), uid, form, isLater: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant('Remove' as const), uid }) },
  {
    weight: 6,
    arbitrary: fc.record({
      _tag: fc.constant('Node' as const),
      id: fc.constantFrom('x', 'y'),
      node,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ _tag: fc.constant('Gone' as const), id: fc.constantFrom('x', 'y') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      _tag: fc.constant('Pass' as const),
      ms: fc.constantFrom(1, lagGraceMs / 2, lagGraceMs),
    }),
  },
)

const rarely = (one: number): fc.Arbitrary<boolean> => fc.nat(one).map((drawn) => drawn === 0)

export const tellings: fc.Arbitrary<ReadonlyArray<Telling>> = fc.array(
  fc.record({
    event,
    isFresh: rarely(9),
    isAlone: rarely(19),
    isLedgerBehind: rarely(5),
  }),
  { minLength: 5, maxLength: 40, size: 'max' },
)

const listener = (name: string, port: number): HttpListener => ({ name, address: '0.0.0.0', port })

const both: Context['dataPlanes'] = new Map([
  ['edge', { listeners: [listener('http', 10_000), listener('other', 10_001)] }],
  ['inner', { listeners: [listener('http', 10_002)] }],
])

const firstOnly: Context['dataPlanes'] = new Map([...both].slice(0, 1))

const routeOf = (uid: string, { dataPlane, paths, createdAt, code }: Form, generation: number) =>
  ({
    metadata: {
      namespace: 'test',
      name: uid,
      uid,
      generation,
      finalizers: [],
      creationTimestamp: `2026-01-0${createdAt}T00:00:00Z`,
    },
    spec: {
      dataPlane,
      matches: paths.map((prefix) => ({ path: { prefix } })),
      respond: { code },
    },
  }) satisfies EdgeRoute

/** Goes through what is told, and gives each time what is to be seen then. */
export function* observations(
  told: ReadonlyArray<Telling>,
): Generator<Observation & { readonly translation: Translation }, void, undefined> {
  const { update } = translator(both)
  const routes = new Map<string, EdgeRoute>()
  const nodes = new Map<string, NodeForm>()
  const published: Array<Snapshot> = []
  let world = emptyWorld
  let nowMs = 0
  for (const { event, isFresh, isAlone, isLedgerBehind } of told) {
    if (event._tag === 'Put') {
      const before = routes.get(event.uid)?.metadata.generation ?? 0
      const generation = Math.max(1, event.isLater ? before + 1 : before)
      routes.set(event.uid, routeOf(event.uid, event.form, generation))
    }
    if (event._tag === 'Remove') routes.delete(event.uid)
    if (event._tag === 'Node') nodes.set(event.id, event.node)
    if (event._tag === 'Gone') nodes.delete(event.id)
    if (event._tag === 'Pass') nowMs += event.ms
    const next = { ...emptyWorld, routes: [...routes.values()] }
    const inTurn = update(worldChange(world, next))
    world = next
    const dataPlanes = isAlone ? firstOnly : both
    const translation =
      isFresh || isAlone ? translate(next.routes, { ...emptyWorld, dataPlanes }) : inTurn
    published.unshift(translation.snapshot)
    const ledger = ledgerOf(published, isLedgerBehind ? 1 : 0, nodes)
    yield { ...translation, translation, ledger, nowMs }
  }
}

const ledgerOf = (
  published: ReadonlyArray<Snapshot>,
  age: number,
  nodes: ReadonlyMap<string, NodeForm>,
): Ledger => ({
  snapshot: published[age],
  forgotten: 0,
  returns: 0,
  nodes: [...nodes].map(([id, form]) => nodeOf(id, form, published)),
})

const nodeOf = (
  id: string,
  { dataPlane, stream, age, refuses, listens }: NodeForm,
  published: ReadonlyArray<Snapshot>,
): LedgerNode => {
  const messages = Object.fromEntries(refuses.map((each) => [each, `${id} refuses ${each}`]))
  const plain = aNode({
    id,
    stream: stream && `${id} ${stream}`,
    holds: undefined,
    refuses: messages,
    dataPlane,
    listens,
  })
  const held = published[age]
  if (stream === undefined || held === undefined) return plain
  return holding(plain, viewOf(held, dataPlane), listens.isAccepted)
}

/** The node once it has accepted these tables, and the listeners or none of them. */
export const holding = (node: LedgerNode, view: View, isListening = true): LedgerNode => ({
  ...node,
  holdings: {
    [listenerType]: { acked: isListening ? view[listenerType] : undefined, unsure: undefined },
    [routeType]: { acked: view[routeType], unsure: undefined },
  },
  tables: PM.fromEntries(
    [...PM.entries(view[routeType])].map((accepted) => unsureOf(accepted.name, { accepted })),
  ),
})
