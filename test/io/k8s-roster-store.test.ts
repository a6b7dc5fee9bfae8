import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { objectIn, textIn } from '../../src/adapters/k8s/informers/index.js'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import { encodeRoster } from '../../src/core/roster/codec.js'
import { clusterType } from '../../src/core/type-url.js'
import { rosterStoreContract } from '../contract/roster-store.js'
import {
  collection,
  fleet,
  headPath,
  isHead,
  isWrite,
  load,
  loaded,
  mapped,
  namespace,
  open,
  partsNamedOn,
  partsOn,
  save,
  settled,
  small,
} from '../support/k8s-large-roster.js'
import { lost, type ObjectServer, objectServer, statusOf } from '../support/k8s-object-server.js'
import { anEntry, aRoster } from '../support/roster.js'

rosterStoreContract('kubernetes, on a server in memory', () => {
  const server = objectServer()
  return {
    open: () => open(server),
    spoil: (text) => server.edit(headPath, { data: { roster: text } }),
    text: () => {
      const { roster } = objectIn(server.at(headPath), 'data')
      return typeof roster === 'string' ? roster : undefined
    },
    breakSaves: (isBroken) => {
      server.meddle = (request) =>
        isBroken && isWrite(request) ? { reply: statusOf(500) } : undefined
    },
  }
})

describe('a roster in a ConfigMap', () => {
  test('is one that a person can read, as long as it is small', async () => {
    const server = objectServer()
    await save(await loaded(server), small)
    const text = textIn(objectIn(server.at(headPath), 'data'), 'roster')
    expect(E.right(text)).toEqual(encodeRoster(small))
    expect(server.names(collection)).toEqual(['edgewright-roster'])
  })

  test('takes one request for each save, as long as it is small', async () => {
    const server = objectServer()
    const store = await loaded(server)
    const before = server.asked.length
    await save(store, small)
    await save(store, aRoster(anEntry('c')))
    await settled(store)
    expect(
      server.asked
        .slice(before)
        .filter(isWrite)
        .map(({ method }) => method),
    ).toEqual(['POST', 'PUT'])
  })

  test('of 10,000 Envoys with as many doubts as there may be fits', async () => {
    const server = objectServer()
    const names = Array.from({ length: 1_000 }, (_, i) => `shop/checkout-${i}/é-${'x'.repeat(200)}`)
    const entries = [...fleet(10_000).values()].map((entry) => ({
      ...entry,
      doubts: { [clusterType]: names },
    }))
    const roster = aRoster(...entries)
    expect(await save(await loaded(server), roster)).toEqual(E.right(undefined))
    // To compare 10 million names takes longer than all the rest.
    expect(E.chain(encodeRoster)(await mapped(load(server)))).toEqual(encodeRoster(roster))
  })

  test('is written in the parts that have changed, and no others', async () => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, fleet(10_000))
    await settled(store)
    const before = server.asked.length
    const parts = new Set(partsOn(server))
    expect(parts.size).toBeGreaterThan(5)
    await save(store, fleet(10_000, 5_000))
    await settled(store)
    const made = server.asked.slice(before).filter(({ method }) => method === 'POST')
    expect(made.length).toBeGreaterThan(0)
    expect(made.length).toBeLessThanOrEqual(3)
    expect(partsOn(server).filter((name) => parts.has(name)).length).toBeGreaterThan(2)
    expect(partsOn(server)).toEqual([...partsNamedOn(server)].sort())
    expect(await load(server)).toEqual(E.right(fleet(10_000, 5_000)))
  })

  test('becomes small again, and leaves no parts', async () => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, fleet(5_000))
    await save(store, small)
    await settled(store)
    expect(server.names(collection)).toEqual(['edgewright-roster'])
    expect(await load(server)).toEqual(E.right(small))
  })

  test('is what it was, or what it was to be, wherever a save is cut off', async () => {
    const before = fleet(4_000)
    const after = fleet(4_000, 17)
    let writes = Infinity
    for (let cut = 0; cut < writes; cut += 1)
      for (const isDone of [false, true]) {
        const server = objectServer()
        const first = await loaded(server)
        await save(first, before)
        await settled(first)
        const store = await loaded(server)
        let count = 0
        server.meddle = (request) => {
          if (!isWrite(request)) return undefined
          count += 1
          return count > cut ? lost(isDone && count === cut + 1) : undefined
        }
        const saved = await save(store, after)
        await settled(store)
        server.meddle = () => undefined
        const found = await load(server)
        if (E.isRight(saved)) expect(found).toEqual(E.right(after))
        else expect([E.right(before), E.right(after)]).toContainEqual(found)
        writes = Math.min(writes, E.isRight(saved) ? cut : Infinity)
        // What comes next, in this process or in the next one, finds its way and clears up.
        for (const next of [() => Promise.resolve(store), () => loaded(server)]) {
          const writer = await next()
          expect(await save(writer, before)).toEqual(E.right(undefined))
          await settled(writer)
          expect(partsOn(server)).toEqual([...partsNamedOn(server)].sort())
        }
      }
    expect(writes).toBeGreaterThan(1)
    expect(writes).toBeLessThan(20)
  })

  test('that a late request writes after all is known as its own', async () => {
    const server = objectServer()
    const store = await loaded(server)
    let late = (): void => undefined
    server.meddle = (request) => {
      late = () => void server.perform(request)
      return lost(false)
    }
    expect(await save(store, small)).toMatchObject({ left: { _tag: 'Unavailable' } })
    server.meddle = () => undefined
    late()
    expect(await save(store, aRoster(anEntry('c')))).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(aRoster(anEntry('c'))))
  })

  test('belongs to the control plane that was the first to write after reading', async () => {
    const server = objectServer()
    const old = await loaded(server)
    await save(old, fleet(3_000))
    const young = await loaded(server)
    expect(await save(young, fleet(3_000, 1))).toEqual(E.right(undefined))
    for (let i = 0; i < 2; i += 1)
      expect(await save(old, fleet(3_000, 2))).toMatchObject({
        left: { message: expect.stringContaining('give each a name') as unknown },
      })
    expect(await load(server)).toEqual(E.right(fleet(3_000, 1)))
    expect(partsOn(server).length).toBeGreaterThan(partsNamedOn(server).length)
    const next = await loaded(server)
    await save(next, fleet(3_000, 3))
    await settled(next)
    expect(partsOn(server)).toEqual([...partsNamedOn(server)].sort())
  })

  test('of which both have found none belongs to the first, too', async () => {
    const server = objectServer()
    const [a, b] = [await loaded(server), await loaded(server)]
    expect(await save(a, small)).toEqual(E.right(undefined))
    expect(await save(b, new Map())).toMatchObject({ left: { _tag: 'Superseded' } })
    expect(await load(server)).toEqual(E.right(small))
  })

  test('that somebody gave a label is still its own; with another content it is not', async () => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, small)
    server.edit(headPath, { metadata: { labels: { team: 'edge' } } })
    expect(await save(store, aRoster(anEntry('c')))).toEqual(E.right(undefined))
    server.edit(headPath, { data: { roster: 'mine' } })
    expect(await save(store, small)).toMatchObject({ left: { _tag: 'Superseded' } })
    expect(server.at(headPath)).toMatchObject({ data: { roster: 'mine' } })
  })

  test('is missed when it is gone or another one, and no sooner', async () => {
    const server = objectServer()
    const store = await loaded(server)
    const isThere = () => store.isThere?.()()
    expect(await isThere()).toEqual(E.right(true))
    await save(store, small)
    server.edit(headPath, { metadata: { labels: { team: 'edge' } } })
    expect(await isThere()).toEqual(E.right(true))
    const { data } = server.at(headPath) as { readonly data: Readonly<Record<string, string>> }
    server.edit(headPath, { data: { roster: 'mine' } })
    expect(await isThere()).toEqual(E.right(false))
    server.edit(headPath, { data })
    expect(await isThere()).toEqual(E.right(true))
    server.remove(headPath)
    expect(await isThere()).toEqual(E.right(false))
  })

  test('that was replaced is written again by who knows to be alone, and has written it before', async () => {
    const server = objectServer()
    let isAlone = false
    const store = kubernetesRosterStore(server.client, { namespace, isAlone: () => isAlone })
    await store.load()()
    server.edit(headPath, { data: { roster: 'the last word of a predecessor' } })
    isAlone = true
    expect(await save(store, small)).toMatchObject({ left: { _tag: 'Superseded' } })
    server.remove(headPath)
    await store.load()()
    expect(await save(store, fleet(3_000))).toEqual(E.right(undefined))
    const old = server.at(headPath)
    expect(await save(store, fleet(3_001))).toEqual(E.right(undefined))
    // Its parts may have been left over meanwhile, and be gone.
    for (const name of server.names(collection)) server.remove(`${collection}/${name}`)
    server.edit(headPath, old ?? {})
    isAlone = false
    expect(await save(store, fleet(3_001))).toMatchObject({ left: { _tag: 'Superseded' } })
    isAlone = true
    expect(await save(store, fleet(3_001))).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(fleet(3_001)))
  })

  test('that was deleted, parts and all, is written anew', async () => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, fleet(3_000))
    for (const name of server.names(collection)) server.remove(`${collection}/${name}`)
    expect(await save(store, fleet(3_000))).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(fleet(3_000)))
  })

  test('that was never read is not overwritten', async () => {
    const server = objectServer()
    server.edit(headPath, { data: { roster: 'precious' } })
    const store = open(server)
    expect(await save(store, small)).toMatchObject({
      left: {
        message:
          'the roster in the ConfigMap edge/edgewright-roster cannot be written: it was not read yet',
      },
    })
    expect(await store.load()()).toMatchObject({ left: { _tag: 'Unreadable' } })
    expect(await save(store, small)).toMatchObject({ left: { _tag: 'Unavailable' } })
    expect(server.at(headPath)).toMatchObject({ data: { roster: 'precious' } })
  })

  test('is not taken for written where a part was refused, as by a busy quota', async () => {
    const server = objectServer()
    const store = await loaded(server)
    let parts = 0
    server.meddle = (request) => {
      if (request.method !== 'POST' || isHead(request)) return undefined
      parts += 1
      return parts === 2 ? { reply: statusOf(409, 'Conflict', 'quota') } : undefined
    }
    expect(await save(store, fleet(4_000))).toMatchObject({ left: { _tag: 'Unavailable' } })
    expect(await load(server)).toEqual(E.right(new Map()))
    expect(await save(store, fleet(4_000))).toEqual(E.right(undefined))
    expect(await load(server)).toEqual(E.right(fleet(4_000)))
  })
})

describe('a roster that cannot be read is told of', () => {
  const messageOf = (result: E.Either<{ readonly message: string }, unknown>): string =>
    E.isLeft(result) ? result.left.message : 'it succeeded'

  const large = async (): Promise<ObjectServer> => {
    const server = objectServer()
    const store = await loaded(server)
    await save(store, fleet(4_000))
    await settled(store)
    return server
  }

  test('with the part that is missing', async () => {
    const server = await large()
    const [part = ''] = partsOn(server)
    server.remove(`${collection}/${part}`)
    expect(messageOf(await load(server))).toContain(`the ConfigMap ${part}, is missing`)
  })

  test('with the part that is not what was written', async () => {
    const server = await large()
    const [part = ''] = partsOn(server)
    server.edit(`${collection}/${part}`, { data: { part: 'else' } })
    expect(messageOf(await load(server))).toContain(`the ConfigMap ${part}, is not what was`)
  })

  test.each([
    ['no JSON', '{', /cut off/],
    ['a newer version', '{"version":2,"parts":{}}', /run the edgewright that has written it/],
    ['something else', '{"version":1,"parts":[{"name":1}]}', /no list of parts/],
  ])('where the list of parts is %s', async (_, parts, reason) => {
    const server = objectServer()
    server.edit(headPath, { data: { parts } })
    expect(messageOf(await load(server))).toMatch(reason)
  })

  test('where the ConfigMap is empty', async () => {
    const server = objectServer()
    server.edit(headPath, {})
    expect(await load(server)).toMatchObject({ left: { _tag: 'Unreadable' } })
  })

  test.each([
    ['configmaps', statusOf(403, 'Forbidden', 'cannot list'), /does not allow it: cannot list/],
    ['edgewright-roster', statusOf(503), /answers 503/],
  ])('as unavailable where the API server does not give %s', async (what, reply, reason) => {
    const server = await large()
    server.meddle = ({ path }) => (path.endsWith(what) ? { reply } : undefined)
    const result = await load(server)
    expect(result).toMatchObject({ left: { _tag: 'Unavailable' } })
    expect(messageOf(result)).toMatch(reason)
  })

  test('not because it was written meanwhile, or the rest of a list has expired', async () => {
    const server = await large()
    const store = await loaded(server)
    let lists = 0
    server.meddle = async ({ query }) => {
      if (query?.['labelSelector'] === undefined) return undefined
      lists += 1
      if (lists === 2) return { reply: statusOf(410, 'Expired') }
      if (lists !== 1) return undefined
      await save(store, fleet(4_000, 7))
      for (const name of partsOn(server))
        if (!partsNamedOn(server).includes(name)) server.remove(`${collection}/${name}`)
      return undefined
    }
    expect(await load(server)).toEqual(E.right(fleet(4_000, 7)))
    expect(lists).toBe(3)
  })
})
