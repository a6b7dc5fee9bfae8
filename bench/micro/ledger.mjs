// What a fleet costs: the memory of its ledger, and the time of an ACK and of the ledger's questions.
import { setImmediate as immediately } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { clusterType, listenerType, routeType, translate } from '../../dist/index.js'
import { ledgerOf, mayStillServe } from '../../dist/core/ledger.js'
import { openFleet, step } from '../../dist/core/xds/fleet.js'
import { table } from './measure.mjs'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
/** What lives: weakly held memos go only between turns. */
const heapMb = async () => {
  for (let i = 0; i < 5; i++) {
    gc()
    await immediately()
  }
  return process.memoryUsage().heapUsed / 2 ** 20
}

const routes = (n, changed = -1) =>
  Array.from({ length: n }, (_, i) => ({
    metadata: { namespace: 'bench', name: `r${i}`, uid: `u${i}`, generation: 1, finalizers: [] },
    spec: {
      matches: [{ path: { prefix: `/r${i}` } }],
      backends: [{ address: { host: '10.0.0.1', port: 1024 + i + (i === changed ? 20_000 : 0) } }],
    },
  }))

/** A fleet whose Envoys answer all that they are sent, at once. */
const makeFleet = (nodes) => {
  let state = openFleet()
  const inbox = []
  const advance = (event) => {
    const [next, effects] = step(state, event, 0)
    state = next
    for (const { stream, effect } of effects)
      if (effect._tag === 'Send') inbox.push({ stream, response: effect.response })
  }
  const ask = (stream, typeUrl, fields) =>
    advance({
      _tag: 'RequestReceived',
      stream,
      request: {
        _tag: 'Delta',
        node: { id: `envoy-${stream}`, cluster: 'edge-envoy' },
        typeUrl,
        subscribe: [],
        unsubscribe: [],
        initialResourceVersions: new Map(),
        responseNonce: '',
        errorDetail: undefined,
        ...fields,
      },
    })
  const answerAll = () => {
    let acks = 0
    for (let next = inbox.shift(); next !== undefined; next = inbox.shift()) {
      acks += 1
      ask(next.stream, next.response.typeUrl, { responseNonce: next.response.nonce })
    }
    return acks
  }
  const connect = () => {
    for (let i = 0; i < nodes; i++) {
      const stream = String(i)
      advance({ _tag: 'StreamOpened', stream, variant: 'delta' })
      ask(stream, clusterType, {})
      answerAll()
      ask(stream, listenerType, {})
      answerAll()
      ask(stream, routeType, { subscribe: ['http'] })
      answerAll()
    }
  }
  return {
    connect,
    answerAll,
    publish: (snapshot) => advance({ _tag: 'SnapshotPublished', snapshot }),
    ledger: () => ledgerOf(state),
  }
}

const rows = []
for (const [nodes, n] of [
  [1, 10_000],
  [1_000, 1_000],
  [1_000, 10_000],
]) {
  const first = translate(routes(n)).snapshot
  const second = translate(routes(n, n >> 1)).snapshot
  const before = await heapMb()
  const fleet = makeFleet(nodes)
  fleet.publish(first)
  fleet.connect()
  const atRest = (await heapMb()) - before
  fleet.publish(second)
  const outstanding = (await heapMb()) - before
  const start = performance.now()
  const acks = fleet.answerAll()
  const ackMs = (performance.now() - start) / acks
  const ledger = fleet.ledger()
  const asked = performance.now()
  const missing = mayStillServe(ledger, `u${n >> 1}`).length
  const askMs = performance.now() - asked
  if (missing !== nodes) throw new Error(`${missing} of ${nodes} serve the route`)
  rows.push({
    nodes,
    routes: n,
    'MB at rest': atRest,
    'KB a node': (atRest * 1024) / nodes,
    'MB with a change outstanding': outstanding,
    'entries if copied': nodes * n,
    'us an ACK': ackMs * 1000,
    'ms to ask who may serve': askMs,
  })
}
table(rows)
