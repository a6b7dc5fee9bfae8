import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import type { ApiClient } from '../../src/adapters/k8s/api.js'
import { keepLease, readLease } from '../../src/adapters/k8s/lease.js'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import { lookAtPartsEvery } from '../../src/adapters/k8s/roster-store/look.js'
import { rosterStoreContract } from '../contract/roster-store.js'
import { eventually } from '../support/envoy.js'
import { anEntry, aRoster } from '../support/roster.js'
import { clusterClient } from './support/cluster-client.js'
import { ownNamespace } from './support/namespace.js'
import { theCluster } from './support/the-cluster.js'

const cluster = theCluster()
const namespace = ownNamespace(cluster, 'roster')
const client = clusterClient(cluster)

let worlds = 0

rosterStoreContract('kubernetes', () => {
  const name = `roster-${(worlds += 1)}`
  const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`
  let isBroken = false
  const fragile: ApiClient = {
    ...client,
    send: (request, signal) =>
      isBroken && request.method !== 'GET'
        ? () => Promise.resolve(E.left({ _tag: 'Unreachable', message: 'broken' }))
        : client.send(request, signal),
  }
  return {
    open: () => kubernetesRosterStore(fragile, { namespace, name }),
    spoil: async (roster) => {
      const contentType = 'application/merge-patch+json'
      await cluster.request({ method: 'PATCH', path, contentType, body: { data: { roster } } })
    },
    text: async () => {
      const { body } = await cluster.request({ path })
      return (body as { readonly data?: { readonly roster?: string } }).data?.roster
    },
    breakSaves: (isBrokenNow) => {
      isBroken = isBrokenNow
    },
  }
})

test('a roster that is too large for one object is kept in several, and read back whole', async () => {
  const store = kubernetesRosterStore(client, { namespace, name: 'large' })
  expect(E.isRight(await store.load()())).toBe(true)
  const ids = Array.from({ length: 10_000 }, (_, i) => `edge/envoy-${i}/6f0c2b1e-${i}`)
  const large = aRoster(...ids.map((id) => anEntry(id)))
  expect(await store.save(large)()).toEqual(E.right(undefined))
  expect(await kubernetesRosterStore(client, { namespace, name: 'large' }).load()()).toEqual(
    E.right(large),
  )
})

test('a part that somebody deletes is missed, and made anew under another name by the next save', async () => {
  const name = 'harmed'
  const store = kubernetesRosterStore(client, { namespace, name })
  await store.load()()
  const ids = Array.from({ length: 4_000 }, (_, i) => `edge/envoy-${i}/6f0c2b1e-${'0'.repeat(24)}`)
  const roster = aRoster(...ids.map((id) => anEntry(id)))
  expect(await store.save(roster)()).toEqual(E.right(undefined))
  const parts = async (): Promise<ReadonlyArray<string>> => {
    const selector = `net.10xdev.io/part-of-roster=${name}`
    const listed = await cluster.kubectl([
      '-n',
      namespace,
      'get',
      'cm',
      '-o',
      'name',
      '-l',
      selector,
    ])
    return listed.split('\n').filter((line) => line !== '')
  }
  const [lost = ''] = await parts()
  await cluster.kubectl(['-n', namespace, 'delete', lost])
  const looks: Array<unknown> = []
  for (let look = 0; look < lookAtPartsEvery; look += 1) looks.push(await store.isThere?.()())
  expect(looks).toContainEqual(E.right(false))
  expect(await store.save(roster)()).toEqual(E.right(undefined))
  expect(await kubernetesRosterStore(client, { namespace, name }).load()()).toEqual(E.right(roster))
  expect(await parts()).not.toContain(lost)
})

test('a lease tells that somebody is live, is waited for by a second one, and is given back', async () => {
  const [first, second] = [new AbortController(), new AbortController()]
  const read = () => readLease(client, { namespace }, new AbortController().signal)()
  expect(await read()).toEqual(E.right({ _tag: 'Absent' }))
  const one = keepLease(client, { namespace, identity: 'one' }, first.signal)
  await eventually(
    () => one.isHeld(),
    (isHeld) => isHeld,
  )
  const two = keepLease(client, { namespace, identity: 'two' }, second.signal)
  expect(await read()).toMatchObject({ right: { _tag: 'Live', holder: 'one' } })
  expect(two.isHeld()).toBe(false)
  first.abort()
  await one.finished
  await eventually(
    () => two.isHeld(),
    (isHeld) => isHeld,
    30_000,
  )
  second.abort()
  await two.finished
  expect(await read()).toMatchObject({
    right: { _tag: expect.not.stringMatching('Live') as string },
  })
})
