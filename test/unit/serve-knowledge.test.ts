import { expect, test } from 'vitest'
import type { NotYet } from '../../src/core/deletion.js'
import { openKnowledge } from '../../src/host/cli/serve/knowledge.js'

const starting: NotYet = { _tag: 'Starting', untilMs: 60_000 }
const unsaved: NotYet = { _tag: 'RosterUnsaved', message: 'no' }

const following = () => {
  const abort = new AbortController()
  let now: NotYet | undefined = starting
  const knowledge = openKnowledge()
  expect(knowledge.knowsAll()).toBe(false)
  knowledge.follow({ notYet: () => now }, abort.signal)
  const become = (next: NotYet | undefined): boolean => {
    now = next
    return knowledge.knowsAll()
  }
  return { ...knowledge, become, abort: () => abort.abort() }
}

test('a control plane knows all Envoys whenever nothing keeps its host from a release', () => {
  const { become } = following()
  expect([become(starting), become(undefined), become(unsaved), become(undefined)]).toEqual([
    false,
    true,
    false,
    true,
  ])
})

test('one whose start was not over when it began to end does not know all Envoys, whatever time passes', () => {
  const { become, abort } = following()
  abort()
  expect(become(undefined)).toBe(false)
})

test('one whose last write of the roster fails knows all Envoys no more', () => {
  const { become, abort } = following()
  become(undefined)
  abort()
  expect([become(undefined), become(unsaved)]).toEqual([true, false])
})

test('what is known stays so without the Lease, once it is left at that', () => {
  const { become, freeze } = following()
  become(undefined)
  freeze()
  expect(become(unsaved)).toBe(true)
})

test('one that was asked to end before it served knows nothing', () => {
  const knowledge = openKnowledge()
  knowledge.follow({ notYet: () => undefined }, AbortSignal.abort())
  expect(knowledge.knowsAll()).toBe(false)
})
