import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { configMapAt } from '../../src/adapters/k8s/objects/places.js'
import { type Holding, nothingHeld } from '../../src/adapters/k8s/roster-store/holding.js'
import { maxLeftovers, saveText } from '../../src/adapters/k8s/roster-store/save.js'
import type { Writing } from '../../src/adapters/k8s/roster-store/writing.js'
import type { Roster } from '../../src/core/roster.js'
import { encodeRoster } from '../../src/core/roster/codec.js'
import {
  collection,
  fleet,
  headPath,
  holdBack,
  isDelete,
  isHead,
  isWrite,
  load,
  namespace,
  partsNamedOn,
  partsOn,
  small,
} from '../support/k8s-large-roster.js'
import { type ObjectServer, objectServer, statusOf } from '../support/k8s-object-server.js'

describe('where as many parts may be left over as there may be', () => {
  const place = configMapAt(namespace, 'edgewright-roster')
  const names = Array.from({ length: maxLeftovers }, (_, i) => `left-${i}`)

  const textOf = (roster: Roster): string => {
    const text = encodeRoster(roster)
    if (E.isLeft(text)) throw new Error(text.left)
    return text.right
  }

  const writingTo = ({ client }: ObjectServer, isAlone = false): Writing => ({
    ...{ client, place, session: 's' },
    isAlone: () => isAlone,
  })

  const full = (holding: Holding): Holding => ({ ...holding, leftovers: new Set(names) })

  test('no more are made while the API server does not answer, or refuses the head', async () => {
    const server = objectServer()
    const made = () => server.asked.filter((asked) => asked.method === 'POST' && !isHead(asked))
    for (const isRefused of [() => true, isHead]) {
      server.meddle = (request) => (isRefused(request) ? { reply: statusOf(503) } : undefined)
      const saved = await saveText(writingTo(server), textOf(fleet(3_000)), full(nothingHeld))
      expect(saved.result).toMatchObject({ left: { _tag: 'Unavailable' } })
      expect(saved.holding.leftovers.size).toBe(maxLeftovers)
    }
    expect(made()).toEqual([])
  })

  test('a save succeeds again, by itself, once it answers: with no roster there', async () => {
    const server = objectServer()
    for (const name of names.slice(0, 5)) server.edit(`${collection}/${name}`, {})
    const saved = await saveText(writingTo(server), textOf(fleet(3_000)), full(nothingHeld))
    expect(saved.result).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(fleet(3_000)))
    expect(partsOn(server)).toEqual([...partsNamedOn(server)].sort())
  })

  test('and with one, of which what is there can be read all the time', async () => {
    const server = objectServer()
    const writing = writingTo(server)
    const first = await saveText(writing, textOf(fleet(3_000)), nothingHeld)
    let deletions = 0
    server.meddle = async (request) => {
      if (!isDelete(request)) return undefined
      deletions += 1
      if (deletions % 1_000 === 1) expect(await load(server)).toEqual(E.right(fleet(3_000)))
      return undefined
    }
    const saved = await saveText(writing, textOf(fleet(3_000, 7)), full(first.holding))
    expect(saved.result).toEqual(E.right(undefined))
    expect(deletions).toBe(maxLeftovers)
    expect(await load(server)).toEqual(E.right(fleet(3_000, 7)))
    // What has not changed is there still.
    const kept = [...first.holding.parts.values()].filter((name) => partsOn(server).includes(name))
    expect(kept.length).toBeGreaterThan(0)
  })

  test('and a late write of the head names none of those that are deleted', async () => {
    const server = objectServer()
    const writing = writingTo(server)
    const first = await saveText(writing, textOf(small), nothingHeld)
    const late = holdBack(server, isHead)
    const second = await saveText(writing, textOf(fleet(3_000)), first.holding)
    expect(second.result).toMatchObject({ left: { _tag: 'Unavailable' } })
    expect(late.held).toHaveLength(1)
    const leftovers = new Set([...second.holding.leftovers, ...names])
    let deletions = 0
    server.meddle = async (request) => {
      if (isDelete(request)) deletions += 1
      if (!isDelete(request) || deletions !== leftovers.size) return undefined
      late.arrive()
      expect(await load(server)).toEqual(E.right(small))
      return undefined
    }
    const third = await saveText(writing, textOf(fleet(3_000, 7)), { ...second.holding, leftovers })
    expect(third.result).toEqual(E.right(undefined))
    expect(deletions).toBe(leftovers.size)
    expect(await load(server)).toEqual(E.right(fleet(3_000, 7)))
  })

  test('and parts that a head names which somebody else has put there are not relied on', async () => {
    const server = objectServer()
    const writing = writingTo(server, true)
    const first = await saveText(writing, textOf(fleet(3_000)), nothingHeld)
    const old = server.at(headPath)
    const second = await saveText(writing, textOf(small), first.holding)
    for (const name of server.names(collection)) server.remove(`${collection}/${name}`)
    server.edit(headPath, old ?? {})
    server.edit(headPath, { metadata: { annotations: null } })
    const third = await saveText(writing, textOf(fleet(3_000)), full(second.holding))
    expect(third.result).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(fleet(3_000)))
  })

  test('and where not all can be deleted it fails, and the next one goes on with the rest', async () => {
    const server = objectServer()
    const writing = writingTo(server)
    server.meddle = ({ path }) =>
      path.endsWith('/left-4000') ? { reply: statusOf(503) } : undefined
    const failed = await saveText(writing, textOf(fleet(3_000)), full(nothingHeld))
    expect(failed.result).toMatchObject({
      left: { message: expect.stringMatching(/ \d+ parts are left over/) as unknown },
    })
    expect(failed.holding.leftovers.size).toBeLessThan(maxLeftovers - 3_000)
    expect(await load(server)).toEqual(E.right(new Map()))
    server.meddle = () => undefined
    const saved = await saveText(writing, textOf(fleet(3_000)), failed.holding)
    expect(saved.result).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(fleet(3_000)))
  })

  test('and it says so where somebody has put something in its place that is no roster', async () => {
    const server = objectServer()
    const writing = writingTo(server, true)
    const first = await saveText(writing, textOf(small), nothingHeld)
    server.edit(headPath, { data: { roster: null } })
    const saved = await saveText(writing, textOf(fleet(3_000)), full(first.holding))
    expect(saved.result).toMatchObject({
      left: { message: expect.stringContaining('nor data.parts: delete it') as unknown },
    })
  })

  test('and one that somebody else uses is left to them', async () => {
    const server = objectServer()
    const first = await saveText(writingTo(server), textOf(small), nothingHeld)
    server.edit(headPath, { data: { roster: 'mine' } })
    const before = server.asked.length
    const text = textOf(fleet(3_000))
    const saved = await saveText(writingTo(server), text, full(first.holding))
    expect(saved.result).toMatchObject({ left: { _tag: 'Superseded' } })
    expect(server.asked.slice(before).filter(isWrite)).toEqual([])
  })
})
