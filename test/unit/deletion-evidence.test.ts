import { describe, expect, test } from 'vitest'
import type { NotYet } from '../../src/core/deletion.js'
import { evidenceOf, forgottenSince } from '../../src/core/evidence.js'
import type { Ledger } from '../../src/core/ledger.js'
import { maxNamedNodes } from '../../src/core/programmed/statement.js'
import { aLedger, type NodeOptions } from '../support/ledger-nodes.js'

const returns = 7
const ledger = (...nodes: ReadonlyArray<NodeOptions>): Ledger => ({
  ...aLedger(undefined, nodes),
  returns,
})

const holder: NodeOptions = { id: 'holder', stream: '1', holds: { a: 1, b: 1 } }
const free: NodeOptions = { id: 'free', stream: '2', holds: { b: 1 } }
const lost: NodeOptions = { id: 'lost', stream: undefined, holds: { a: 1 } }
const closed: NotYet = { _tag: 'RosterUnsaved', message: 'the disk is full' }

describe('an object', () => {
  test('is clear when no Envoy has it in a table, and says how many returns had begun', () => {
    expect(evidenceOf(ledger(), undefined, 'a')).toEqual({ _tag: 'Clear', returns })
    expect(evidenceOf(ledger(free), undefined, 'a')).toEqual({ _tag: 'Clear', returns })
  })

  test('is owed by a single Envoy that has it, whatever the others have said', () => {
    const owed = { _tag: 'Owed', nodes: ['holder'], nodeCount: 1 }
    expect(evidenceOf(ledger(free, holder, free), undefined, 'a')).toEqual(owed)
  })

  test('is owed by a lost Envoy that had it', () => {
    const owed = { _tag: 'Owed', nodes: ['holder', 'lost'], nodeCount: 2 }
    expect(evidenceOf(ledger(lost, holder), undefined, 'a')).toEqual(owed)
  })

  test('is not clear as long as anything keeps all from being so; who is owed is named first', () => {
    expect(evidenceOf(ledger(free), closed, 'a')).toBe(closed)
    expect(evidenceOf(ledger(lost), closed, 'a')).toMatchObject({ nodes: ['lost'] })
  })

  test('names a few of those that owe it, each id once, and counts them all', () => {
    const many = Array.from({ length: 3 * maxNamedNodes }, (_, i) => ({
      ...holder,
      id: `envoy-${Math.floor(i / 2)}`,
      stream: `${i}`,
    }))
    const evidence = evidenceOf(ledger(...many), undefined, 'a')
    expect(evidence).toMatchObject({ _tag: 'Owed', nodeCount: 3 * maxNamedNodes })
    const nodes = evidence._tag === 'Owed' ? evidence.nodes : []
    expect([nodes.length, new Set(nodes).size]).toEqual([maxNamedNodes, maxNamedNodes])
  })
})

describe('a node of before', () => {
  const ids = (before: Ledger, after: Ledger): ReadonlyArray<string> =>
    forgottenSince(before, after).map(({ id }) => id)
  const shared = (of: Ledger): Ledger => ({
    ...of,
    nodes: of.nodes.map((node) => ({ ...node, isShared: true })),
  })

  test('is forgotten once nothing has its id any more, whether it was lost or not', () => {
    expect(ids(ledger(holder, lost), ledger(holder))).toEqual(['lost'])
    expect(ids(ledger(holder, lost), ledger())).toEqual(['holder', 'lost'])
    expect(ids(ledger(holder), ledger(holder))).toEqual([])
  })

  test('is not forgotten for going away, or for coming back', () => {
    const gone = { ...holder, stream: undefined }
    expect(ids(ledger(holder), ledger(gone))).toEqual([])
    expect(ids(ledger(gone), ledger({ ...holder, stream: '9' }))).toEqual([])
  })

  test('is forgotten of an id that others have, too, if it was lost, and no other that is lost has it', () => {
    const left = { ...holder, stream: undefined }
    const both = shared(ledger(holder, left))
    expect(ids(both, shared(ledger(holder)))).toEqual(['holder'])
    expect(ids(both, both)).toEqual([])
    expect(ids(shared(ledger(holder)), both)).toEqual([])
  })
})
