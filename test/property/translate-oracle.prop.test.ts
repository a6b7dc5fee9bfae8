import { test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { defaultContext } from '../../src/core/context.js'
import { type EdgeRoute, showKey } from '../../src/core/edge-route.js'
import * as PM from '../../src/core/persistent-map.js'
import { encodeContent } from '../../src/core/resource.js'
import { viewOf } from '../../src/core/snapshot.js'
import { translate } from '../../src/core/translate.js'
import { routeType } from '../../src/core/type-url.js'
import type { Verdict } from '../../src/core/verdict.js'
import { RouteConfiguration } from '../../src/gen/envoy/config/route/v3/route.js'
import type { RouteAction } from '../../src/gen/envoy/config/route/v3/route_components.js'
import { edgeRoute } from '../support/arbitraries.js'
import {
  oracleAnswers,
  oraclePatience,
  type OracleVerdict,
  oracleVerdicts,
  type Patience,
  type World,
} from '../support/oracle.js'
import type { Answer, Request } from '../support/oracle/answer.js'
import { encoded, envoyAnswer } from '../support/oracle/envoy-answers.js'
import { withRequests } from '../support/oracle/requests.js'
import { living, world } from '../support/oracle/world.js'

const runs = { numRuns: 1000 }

/** Every answer says which route it comes from. */
const marked = (one: World): World => ({
  ...one,
  routes: one.routes.map((route) => (one.broken.has(route.metadata.uid) ? route : mark(route))),
})

const mark = ({ metadata, spec }: EdgeRoute): EdgeRoute => {
  const response = spec.headers?.response ?? {}
  const add = [...(response.add ?? []), { name: 'x-served-by', value: metadata.uid }]
  return {
    metadata,
    spec: { ...spec, headers: { ...spec.headers, response: { ...response, add } } },
  }
}

/**
 * One request for each unit of weight shows every share exactly. (Fewer would not do: backends that share
 * endpoints need not stand side by side.)
 */
const partsOf = (answer: Answer, { routes }: World): number => {
  if (answer._tag !== 'Forwarded') return 1
  const server = routes.find(({ metadata }) =>
    answer.responseHeaders.includes(`x-served-by: ${metadata.uid}`),
  )
  return (server?.spec.backends ?? []).reduce((sum, { weight = 1 }) => sum + weight, 0)
}

/** What each request gets, on each listener of its data plane; the oracle says how often to ask. */
const answersOf = (
  one: World,
  requests: ReadonlyArray<Request>,
  expected: ReadonlyArray<Answer>,
): ReadonlyArray<ReadonlyArray<Answer>> => {
  const { snapshot } = translate(one.routes, one.context)
  const held = new Map([...snapshot.dataPlanes].map(([name, view]) => [name, encoded(view)]))
  return requests.map((request, index) => {
    const resources = held.get(request.dataPlane)
    if (resources === undefined) return []
    const parts = partsOf(expected[index] ?? { _tag: 'NotFound' }, one)
    const listeners = one.context.dataPlanes.get(request.dataPlane)?.listeners ?? []
    return listeners.map(({ name }) => envoyAnswer(resources, name, request, parts))
  })
}

/** Of one age, and with one claim: the text `namespace/name` decides, not the namespace before the name. */
const rivals: World = {
  routes: ['a', 'a-b'].map((namespace) => ({
    metadata: { namespace, name: 'x', uid: namespace, generation: 1, finalizers: [] },
    spec: { respond: { code: 200 } },
  })),
  broken: new Set(),
  context: defaultContext,
}

/** Two backends that lead nowhere, with one that leads somewhere between them. */
const split: World = {
  routes: [
    {
      metadata: { namespace: 'a', name: 'a', uid: 'uid-0', generation: 1, finalizers: [] },
      spec: {
        backends: [
          { service: { name: 'one', port: 80 }, weight: 3 },
          { address: { host: '10.0.0.1', port: 80 }, weight: 90 },
          { service: { name: 'one', port: 8080 } },
        ],
      },
    },
  ],
  broken: new Set(),
  context: defaultContext,
}

const plain: Request = {
  dataPlane: 'edge-envoy',
  host: 'else.example',
  path: '/',
  method: 'GET',
  headers: [],
  query: [],
}

describe('translate equals the oracle', () => {
  test.prop([withRequests(world)], { ...runs, examples: [[[split, [plain]]]] })(
    'every request gets on every listener what the authors of the routes asked for',
    ([bare, requests]) => {
      const one = marked(bare)
      const expected = oracleAnswers(one, requests)
      const answers = answersOf(one, requests, expected)
      const wanted = answers.map((all, index) => all.map(() => expected[index]))
      expect(answers).toStrictEqual(wanted)
    },
  )

  test.prop([world], { ...runs, examples: [[rivals]] })(
    'every route is told what became of it',
    (one) => {
      const { verdicts } = translate(one.routes, one.context)
      const told = new Map([...verdicts].map(([uid, verdict]) => [uid, inShort(verdict)]))
      expect(told).toStrictEqual(oracleVerdicts(one))
    },
  )
})

const inShort = ({ accepted, unresolved }: Verdict): OracleVerdict => {
  // Only a host says that: `translate` knows of no finalizers.
  if (accepted._tag === 'Unguarded') throw new Error('translate says that a route is unguarded')
  const unreachable = unresolved.map(({ path, reason }) => ({ path, reason }))
  switch (accepted._tag) {
    case 'Accepted':
      return { _tag: accepted._tag, unreachable }
    case 'Terminating':
    case 'Invalid':
    case 'UnknownDataPlane':
      return { _tag: accepted._tag }
    case 'Conflicted': {
      const winners = [...new Set(accepted.lost.map(({ winner }) => showKey(winner)))]
      const { kept, lostCount } = accepted
      return { _tag: 'Conflicted', winners: winners.sort(), lost: lostCount, kept, unreachable }
    }
  }
}

describe('a route by itself', () => {
  const route = edgeRoute.map(living)

  test.prop([route], runs)('waits and tries again as its author says', (one) => {
    for (const action of forwardsOf(one)) {
      const { on, ...rest } = oraclePatience(one)
      const actual = patienceOf(action)
      expect(actual).toMatchObject(on === undefined ? rest : { ...rest, on })
      expect(actual.on?.length === 0).toBe(false)
    }
  })
})

const forwardsOf = (route: EdgeRoute): ReadonlyArray<RouteAction> =>
  [...PM.entries(viewOf(translate([route]).snapshot, 'edge-envoy')[routeType])]
    .flatMap(({ content }) => RouteConfiguration.decode(encodeContent(content)).virtualHosts ?? [])
    .flatMap(({ routes }) => routes ?? [])
    .flatMap(({ action }) => (action?.$case === 'route' ? [action.value] : []))

/** Envoy's own defaults: 15 seconds, and no retries. */
const patienceOf = ({ timeout, retryPolicy }: RouteAction): Patience => ({
  timeoutMs:
    timeout === undefined
      ? 15_000
      : Number(timeout.seconds ?? 0n) * 1000 + (timeout.nanos ?? 0) / 1_000_000,
  attempts: retryPolicy === undefined ? 0 : (retryPolicy.numRetries ?? 1),
  on: retryPolicy?.retryOn?.split(',').sort(),
})
