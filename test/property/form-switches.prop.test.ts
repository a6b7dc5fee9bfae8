import { memoryControlPlane, possibleAnswers } from 'edgewright/memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultDataPlane, type EdgeRoute } from '../../src/core/edge-route.js'
import { type TableForm, wholeForm } from '../../src/core/table-form.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'

type Step =
  | { readonly _tag: 'Switch'; readonly isSharded: boolean }
  /** A route of another host takes another form, comes, or goes. */
  | { readonly _tag: 'Change'; readonly generation: number }
  | { readonly _tag: 'Deliver'; readonly count: number; readonly choice: number }
  | { readonly _tag: 'Pass'; readonly ms: number }
  | { readonly _tag: 'Reconnect' }

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ _tag: fc.constant('Switch'), isSharded: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ _tag: fc.constant('Change'), generation: fc.nat(3) }) },
    {
      weight: 5,
      arbitrary: fc.record({ _tag: fc.constant('Deliver'), count: fc.nat(12), choice: fc.nat(50) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        _tag: fc.constant('Pass'),
        ms: fc.constantFrom(10, 1_000, 16_000, 21_000, 601_000),
      }),
    },
    { weight: 1, arbitrary: fc.constant<Step>({ _tag: 'Reconnect' }) },
  ),
  { maxLength: 30 },
)

const toShards: Step = { _tag: 'Switch', isSharded: true }
const longPass: Step = { _tag: 'Pass', ms: 601_000 }

const route = (name: string, host: string, generation = 1): EdgeRoute => ({
  metadata: { namespace: 'a', name, uid: name, generation, finalizers: [] },
  spec: { hostnames: [host], respond: { code: 200, body: `${name} ${generation}` } },
})

/** Those that stay: each host must be answered by its route, whatever happens. */
const lasting = [route('a', 'a.test'), route('b', 'b.test'), route('w', '*.w.test')]
const asked = [
  ['a.test', 'a 1'],
  ['B.test:80', 'b 1'],
  ['x.w.test', 'w 1'],
] as const

const stage = (variant: 'sotw' | 'delta', shards: number) => {
  const plane = { listeners: [{ name: 'http', address: '127.0.0.1', port: 10_000 }], shards }
  const { update } = translator(new Map([[defaultDataPlane, plane]]))
  const controlPlane = memoryControlPlane()
  let world = emptyWorld
  const publish = (routes: ReadonlyArray<EdgeRoute>, form?: TableForm): void => {
    const next = { ...emptyWorld, routes }
    const forms = form && { forms: new Map([[defaultDataPlane, form]]) }
    controlPlane.publish(update({ ...worldChange(world, next), ...forms }).snapshot)
    world = next
  }
  publish(lasting)
  const node = { id: 'e', cluster: defaultDataPlane }
  const envoy = controlPlane.connect({ node, variant, drainMs: 20_000 })
  controlPlane.settle()
  const faultsOf = (host: string, expected: string): ReadonlyArray<string> => {
    const answers = possibleAnswers(envoy.state(), { listener: 'http', host, path: '/' })
    if (!answers.some(({ reach }) => reach === 'New')) return [`${host}: nobody listens`]
    return answers.flatMap(({ reach, answer }) => {
      const said = answer._tag === 'Responded' ? answer.body : answer._tag
      return said === expected ? [] : [`${host} (${reach}): ${said}`]
    })
  }
  const faults = (): ReadonlyArray<string> =>
    asked.flatMap(([host, expected]) => faultsOf(host, expected))
  const deliver = (choice: number): boolean => {
    const isThere = controlPlane.deliverNext(choice) !== undefined
    expect(faults()).toEqual([])
    return isThere
  }
  /** Delivers everything, and looks whether what changes has come, too. */
  const settle = (generation: number): void => {
    for (let n = 0; deliver(n); n += 1) expect(n).toBeLessThan(10_000)
    expect(faultsOf('c.test', generation === 0 ? 'NotFound' : `c ${generation}`)).toEqual([])
  }
  return { controlPlane, envoy, publish, faults, deliver, settle, world: () => world }
}

test.each(['sotw', 'delta'] as const)(
  '%s: no request misses its route while tables go into shards and back, on new connections or old ones',
  (variant) => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (todo, shards) => {
        const { controlPlane, envoy, publish, faults, deliver, settle, world } = stage(
          variant,
          shards,
        )
        let generation = 0
        for (const step of todo)
          switch (step._tag) {
            case 'Switch':
              publish(world().routes, step.isSharded ? { _tag: 'Sharded', shards } : wholeForm)
              break
            case 'Change':
              generation = step.generation
              publish([...lasting, ...(generation === 0 ? [] : [route('c', 'c.test', generation)])])
              break
            case 'Deliver':
              for (let n = 0; n < step.count && deliver(step.choice * (n + 1)); n += 1);
              break
            case 'Pass':
              // After 15 s without an answer an Envoy opens a listener without its tables.
              if (step.ms > 1_000) settle(generation)
              controlPlane.pass(step.ms)
              expect(faults()).toEqual([])
              break
            case 'Reconnect':
              envoy.reconnect()
              break
          }
        settle(generation)
        controlPlane.pass(700_000)
        expect(faults()).toEqual([])
        settle(generation)
      }),
      {
        numRuns: 300,
        // An Envoy that has forgotten its scopes needs them again.
        examples: [
          [
            [
              toShards,
              longPass,
              { _tag: 'Switch', isSharded: false },
              longPass,
              toShards,
              longPass,
            ],
            2,
          ],
        ],
      },
    )
  },
)
