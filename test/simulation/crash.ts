import { servedTables } from '../../src/adapters/memory/envoy/client/index.js'
import type { Variant } from '../../src/core/xds/messages.js'
import { act, drain, pass } from './act.js'
import { end } from './ending.js'
import type { Violation } from './laws.js'
import { routesIn, markOfRoute } from './serving.js'
import type { Setup, SpecChoice, Step } from './steps.js'
import { makeWorld, type World } from './world.js'

/** What came of a deletion during which the control plane crashed. */
export interface Crashed {
  readonly violation: Violation | undefined
  /** What there is in the end, in words: objects, what is said of them, what each Envoy serves. */
  readonly summary: string
  /** After how many steps the object was gone. */
  readonly steps: number
}

/** More than any deletion takes. */
const maxSteps = 2_000

const spec = (path: number): SpecChoice => ({
  host: 0,
  path,
  backend: path,
  spice: 0,
  isInvalid: false,
})

const setupOf = (variants: ReadonlyArray<Variant>): Setup => ({
  seed: 1,
  profile: 'crash at every step',
  refusesToTheEnd: false,
  forgetsTheDead: false,
  envoys: variants.map((variant, index) => ({
    id: `envoy-${index}`,
    variant,
    seed: 1,
    dislikesBackend: 0,
    drainMs: 20_000,
  })),
})

const beginning = (envoys: number): ReadonlyArray<Step> => [
  { _tag: 'Start', context: 0 },
  ...Array.from({ length: envoys }, (_, envoy): Step => ({ _tag: 'Launch', envoy })),
  ...[0, 1, 2].map((name): Step => ({ _tag: 'Create', name, spec: spec(name), isHeld: false })),
  { _tag: 'Pass', ms: 30_000 },
  { _tag: 'Deliver', count: 500, choice: 1 },
  { _tag: 'Pass', ms: 61_000 },
  // Every request to the store is a while on its way, and so is its answer: each is a step.
  { _tag: 'Api', weather: { failing: 0, slow: 1, slowMs: 40, lossy: 0 }, seed: 1 },
  { _tag: 'Delete', name: 0 },
]

/**
 * Deletes one of three routes, and lets the control plane crash, and start again after an outage, after so many steps: a
 * message that is delivered, or a callback of the clock, be it a write that arrives or is answered. Never, if absent.
 */
export const deleteWithCrash = async (
  variants: ReadonlyArray<Variant>,
  crashAfter?: number,
  outageMs = 0,
): Promise<Crashed> => {
  const world = makeWorld(setupOf(variants), () => undefined)
  for (const step of beginning(variants.length)) await act(world, step)
  let steps = 0
  while (isThere(world) && steps < maxSteps && world.judge.violation() === undefined) {
    if (steps === crashAfter) {
      world.plane.crash()
      await pass(world, outageMs)
      world.plane.start(0)
      await drain(world)
    }
    steps += 1
    if (!world.network.deliver(steps)) world.clock.runNext(Infinity)
    await drain(world)
  }
  await end(world)
  const summary = summaryOf(world)
  world.plane.crash()
  return { violation: world.judge.violation(), summary, steps }
}

const isThere = ({ api }: World): boolean =>
  api.server.list().items.some(({ metadata }) => metadata.name === 'r0')

const summaryOf = ({ api, network, plane }: World): string =>
  [
    ...(plane.host()?.controller.state().seen?.objects ?? []).map(
      ({ uid, generation, finalizers, conditions }) =>
        `${uid} ${generation} ${finalizers.join()} ${conditions.map(({ type, status }) => type + status).join()}`,
    ),
    `${api.server.list().items.length} objects`,
    ...network.envoys.map(({ options, state }) => {
      const tables = state === undefined ? [] : servedTables(state)
      const marks = tables.map(({ table }) => routesIn(table).map(markOfRoute).join())
      return `${options.node.id} serves ${marks.join('; ')}`
    }),
  ].join('\n')
