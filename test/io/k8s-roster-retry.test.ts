import { expect, test } from 'vitest'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import { objectServer, statusOf } from '../support/k8s-object-server.js'
import { anEntry, aRoster } from '../support/roster.js'

const roster = aRoster(anEntry('a'))
const busy = { left: { _tag: 'Unavailable', retryAfterMs: 7_000 } }

test('an API server that asks to be left alone is heard by all that is done with the roster', async () => {
  const server = objectServer()
  const store = kubernetesRosterStore(server.client, { namespace: 'edge' })
  const be = (isBusy: boolean): void => {
    const reply = statusOf(429, 'TooManyRequests', 'too many', 7_000)
    server.meddle = () => (isBusy ? { reply } : undefined)
  }
  be(true)
  expect(await store.load()()).toMatchObject(busy)
  be(false)
  await store.load()()
  be(true)
  expect(await store.save(roster)()).toMatchObject(busy)
  be(false)
  await store.save(roster)()
  be(true)
  expect(await store.isThere?.()()).toMatchObject(busy)
})

test('one that has trouble and asks for nothing is said to ask for nothing', async () => {
  const server = objectServer()
  const store = kubernetesRosterStore(server.client, { namespace: 'edge' })
  server.meddle = () => ({ reply: statusOf(500) })
  const loaded = await store.load()()
  expect(loaded).toMatchObject({ left: { _tag: 'Unavailable' } })
  expect(loaded).not.toHaveProperty('left.retryAfterMs')
})
