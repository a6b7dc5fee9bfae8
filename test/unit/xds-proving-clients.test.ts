import { type EdgeRoute, snapshotOf } from 'edgewright'
import { expect, test } from 'vitest'
import { evidenceOf } from '../../src/core/evidence.js'
import { ledgerOf, mayStillServe } from '../../src/core/ledger.js'
import {
  clusterType,
  listenerType,
  routeType,
  showTypeUrl,
  type TypeUrl,
} from '../../src/core/type-url.js'
import { emptyFleet, type FleetState, nextTimer, step } from '../../src/core/xds/fleet.js'
import type { DeltaRequest, Response } from '../../src/core/xds/messages.js'
import { drainMs } from '../../src/core/xds/timers.js'

const route: EdgeRoute = {
  metadata: { namespace: 'shop', name: 'a', uid: 'a', generation: 1, finalizers: [] },
  spec: { respond: { code: 200 } },
}

interface Client {
  readonly say: (typeUrl: TypeUrl, fields?: Partial<DeltaRequest>) => void
  readonly ackAll: () => void
  /** Lets time pass to the next time that the fleet asks for. */
  readonly passToTimer: () => void
  readonly said: () => ReadonlyArray<string>
  readonly owed: () => ReadonlyArray<string>
  readonly now: () => number
}

/** A delta client on a fleet in which a deletion waits for proof. */
const aClient = (id = 'edge-1'): Client => {
  let now = 1_000
  let state: FleetState = emptyFleet
  let open: ReadonlyArray<Response> = []
  const said: Array<string> = []
  const feed = (event: Parameters<typeof step>[1]): void => {
    const [next, effects] = step(state, event, now)
    state = next
    for (const { effect } of effects) {
      if (effect._tag !== 'Send') continue
      open = [...open, effect.response]
      const { typeUrl, resources, removed } = effect.response
      const names = [...resources.map(({ name }) => name), ...removed.map((name) => `-${name}`)]
      said.push([showTypeUrl(typeUrl), ...names].join(' '))
    }
  }
  const say: Client['say'] = (typeUrl, fields) =>
    feed({
      _tag: 'RequestReceived',
      stream: '1',
      request: {
        _tag: 'Delta',
        node: { id, cluster: 'edge-envoy' },
        typeUrl,
        subscribe: [],
        unsubscribe: [],
        initialResourceVersions: new Map(),
        responseNonce: '',
        errorDetail: undefined,
        ...fields,
      },
    })
  feed({ _tag: 'SnapshotPublished', snapshot: snapshotOf([route]) })
  feed({ _tag: 'AcksDemanded', isOn: true })
  feed({ _tag: 'StreamOpened', stream: '1', variant: 'delta' })
  return {
    say,
    ackAll: () => {
      for (let n = 0; open.length > 0 && n < 20; n += 1) {
        const [first, ...rest] = open
        open = rest
        if (first !== undefined) say(first.typeUrl, { responseNonce: first.nonce })
      }
    },
    passToTimer: () => {
      now = nextTimer(state) ?? now
      feed({ _tag: 'TimePassed' })
    },
    said: () => said,
    owed: () => mayStillServe(ledgerOf(state), 'another').map((node) => node.id),
    now: () => now,
  }
}

const versions = (name: string): Partial<DeltaRequest> => ({
  subscribe: [name],
  initialResourceVersions: new Map([[name, 'of another time']]),
})

test('a table that nobody knows and nobody publishes is sent empty after the longest drain, and proves it', () => {
  const client = aClient()
  client.say(routeType, versions('gone'))
  client.ackAll()
  expect(client.owed()).toEqual(['edge-1'])
  const begun = client.now()
  client.passToTimer()
  expect(client.now() - begun).toBe(drainMs)
  expect(client.said().at(-1)).toBe('RouteConfiguration gone')
  client.ackAll()
  expect(client.owed()).toEqual([])
})

test('a client that answers clusters, and asks for neither listeners nor tables, holds no tables', () => {
  const client = aClient()
  client.say(clusterType, versions('c'))
  expect(client.owed()).toEqual(['edge-1'])
  client.ackAll()
  expect(client.owed()).toEqual([])
})

test('one that has asked for listeners too is owed until it has answered these', () => {
  const client = aClient()
  client.say(clusterType, versions('c'))
  client.say(listenerType, versions('l'))
  client.say(clusterType, { responseNonce: '1' })
  expect(client.owed()).toEqual(['edge-1'])
  client.ackAll()
  expect(client.owed()).toEqual([])
})

test('nothing is proven once Envoys were forgotten because they were too many', () => {
  const ledger = ledgerOf(emptyFleet)
  expect(evidenceOf(ledger, undefined, 'a')._tag).toBe('Clear')
  expect(evidenceOf({ ...ledger, forgotten: 1 }, undefined, 'a')._tag).toBe('RosterUnsaved')
})
