import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import { lookAtPartsEvery } from '../../src/adapters/k8s/roster-store/look.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { lookEveryMs, runKeeping } from '../../src/host/run-keeping.js'
import type { RosterStore } from '../../src/ports/roster-store.js'
import {
  collection,
  fleet,
  headPath,
  holdBack,
  isDelete,
  isHead,
  load,
  loaded,
  namespace,
  partsNamedOn,
  partsOn,
  save,
  small,
} from '../support/k8s-large-roster.js'
import { lost, type ObjectServer, objectServer, statusOf } from '../support/k8s-object-server.js'
import { passTime } from '../support/virtual-time.js'

/** Resolves once what a store does after its saves is done, without reading its parts anew. */
const tidied = (store: RosterStore): Promise<unknown> =>
  store.isThere?.()() ?? Promise.resolve(undefined)

const reread = async (_: ObjectServer, store: RosterStore): Promise<RosterStore> => {
  await store.load()()
  return store
}

describe('a deletion of a part that arrives late deletes none that is in use', () => {
  test.each([
    ['of the same process', (_: ObjectServer, store: RosterStore) => Promise.resolve(store)],
    ['of the same process, which has read it again', reread],
    ['of the next process', (server: ObjectServer) => loaded(server)],
  ])('%s', async (_, next) => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, fleet(3_000))
    await tidied(store)
    const late = holdBack(server, isDelete)
    await save(store, small)
    await tidied(store)
    expect(late.held.length).toBeGreaterThan(0)
    const writer = await next(server, store)
    expect(await save(writer, fleet(3_000))).toEqual(E.right(undefined))
    late.arrive()
    expect(await load(server)).toEqual(E.right(fleet(3_000)))
  })

  test.each([
    ['and has lost the roster since, when it is read again', false],
    ['and has lost the roster since, when it is written over', true],
  ])('of another process, which has found it, %s', async (_, isAlone) => {
    const server = objectServer()
    const store = kubernetesRosterStore(server.client, { namespace, isAlone: () => isAlone })
    await store.load()()
    expect(await save(store, small)).toEqual(E.right(undefined))
    server.meddle = (request) => (isHead(request) ? lost(false) : undefined)
    expect(await save(store, fleet(3_000))).toMatchObject({ left: { _tag: 'Unavailable' } })
    server.meddle = () => undefined
    const other = await loaded(server)
    const late = holdBack(server, isDelete)
    expect(await save(other, small)).toEqual(E.right(undefined))
    await tidied(other)
    expect(late.held.length).toBeGreaterThan(0)
    if (!isAlone) await store.load()()
    expect(await save(store, fleet(3_000))).toEqual(E.right(undefined))
    late.arrive()
    expect(await load(server)).toEqual(E.right(fleet(3_000)))
  })
})

test('what a save has made whose answer was lost is not deleted after an earlier one', async () => {
  const server = objectServer()
  const store = await loaded(server)
  let heads = 0
  server.meddle = (request) => {
    if (isHead(request)) heads += 1
    return isHead(request) && heads === 2 ? lost(false) : undefined
  }
  const saves = await Promise.all([save(store, small), save(store, fleet(3_000))])
  expect(saves.map(E.isRight)).toEqual([true, false])
  expect(await save(store, fleet(3_000))).toEqual(E.right(undefined))
  expect(await load(server)).toEqual(E.right(fleet(3_000)))
})

describe('a part that somebody', () => {
  /** How often it is looked until something is missed. */
  const looksUntilMissed = async (store: RosterStore): Promise<number> => {
    for (let looks = 1; looks <= 2 * lookAtPartsEvery; looks += 1) {
      const found = await store.isThere?.()()
      if (found !== undefined && E.isRight(found) && !found.right) return looks
    }
    return Infinity
  }

  test.each([
    ['deletes', (server: ObjectServer, path: string) => server.remove(path)],
    [
      'replaces',
      (server: ObjectServer, path: string) => server.edit(path, { data: { part: 'x' } }),
    ],
    [
      'takes the label from',
      (server: ObjectServer, path: string) => server.edit(path, { metadata: { labels: null } }),
    ],
  ])('%s is missed, and made anew by the next save', async (_, harm) => {
    const server = objectServer()
    const store = await loaded(server)
    const roster = fleet(4_000)
    await save(store, roster)
    await tidied(store)
    expect(await looksUntilMissed(store)).toBe(Infinity)
    const [part = ''] = partsNamedOn(server)
    harm(server, `${collection}/${part}`)
    expect(await load(server)).toMatchObject({ left: { _tag: 'Unreadable' } })
    expect(await looksUntilMissed(store)).toBeLessThanOrEqual(lookAtPartsEvery)
    const before = server.asked.length
    expect(await save(store, roster)).toEqual(E.right(undefined))
    const made = server.asked.slice(before).filter(({ method }) => method === 'POST')
    expect(made).toHaveLength(1)
    expect(await load(server)).toEqual(E.right(roster))
    await tidied(store)
    expect(partsOn(server)).toEqual([...partsNamedOn(server)].sort())
    expect(await looksUntilMissed(store)).toBe(Infinity)
  })

  test('deletes while a control plane is up is there again within a minute', async () => {
    const server = objectServer()
    const clock = virtualClock(1_000)
    const roster = fleet(4_000)
    const ports = { clock, random: () => 0, perform: () => undefined, onChange: () => undefined }
    const keeping = runKeeping(roster, { ...ports, store: await loaded(server) })
    onTestFinished(keeping.stop)
    await passTime(clock, 2 * lookEveryMs, 1_000)
    for (const part of partsOn(server)) server.remove(`${collection}/${part}`)
    expect(await load(server)).toMatchObject({ left: { _tag: 'Unreadable' } })
    await passTime(clock, lookAtPartsEvery * lookEveryMs, 1_000)
    expect(await load(server)).toEqual(E.right(roster))
  })

  test('may have deleted is not told of where the parts cannot be read', async () => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, fleet(4_000))
    await tidied(store)
    server.meddle = ({ query }) => (query === undefined ? undefined : { reply: statusOf(503) })
    const found: Array<unknown> = []
    for (let look = 0; look < lookAtPartsEvery; look += 1) found.push(await store.isThere?.()())
    expect(found).toContainEqual({
      _tag: 'Left',
      left: { _tag: 'Unavailable', message: expect.any(String) as unknown },
    })
    expect(found).not.toContainEqual(E.right(false))
  })

  test('could delete is not looked for of a roster that has none', async () => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, small)
    const before = server.asked.length
    expect(await looksUntilMissed(store)).toBe(Infinity)
    expect(new Set(server.asked.slice(before).map(({ path }) => path))).toEqual(new Set([headPath]))
  })
})
