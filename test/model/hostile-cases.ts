import type { Variant } from 'edgewright'
import type { Action, EnvoyPlan, Plan, Spec, World } from './hostile-plan.js'

/** A run that once broke a law, made as short as it can be. */
export interface Case {
  readonly title: string
  readonly plan: Plan
  readonly actions: ReadonlyArray<Action>
}

const one = (variant: Variant, of: Partial<EnvoyPlan> = {}): Plan => ({
  variant,
  traits: {},
  envoys: [{ seed: 0, dislikes: [1], dislikesBackend: 3, dislikesPort: false, ...of }],
})

/** One that answers by itself. */
const spec = (id: number, of: Partial<Spec> = {}): Spec => ({
  id,
  form: 0,
  backend: 7,
  spice: 0,
  shared: false,
  ...of,
})

const publish = (specs: ReadonlyArray<Spec>, of: Partial<World> = {}): Action => ({
  _tag: 'Publish',
  world: { specs, http: 1, alt: 0, epoch: 0, ...of },
})

const edit = (id: number, of: Partial<Spec> = {}): Action => ({
  _tag: 'Edit',
  spec: spec(id, of),
  remove: false,
})

const remove = (id: number): Action => ({ _tag: 'Edit', spec: spec(id), remove: true })

const deliver = (...choices: ReadonlyArray<number>): Action => ({ _tag: 'Deliver', choices })

const settle: Action = { _tag: 'Settle' }

const breaks: Action = { _tag: 'Break', envoy: 0 }

const restarts: Action = { _tag: 'Restart', envoy: 0 }

const crash: Action = { _tag: 'Crash', mode: 'memory', publishFirst: false }

const forgets: Action = { _tag: 'Crash', mode: 'nothing', publishFirst: true }

const hot: Partial<Spec> = { spice: 1 }

export const cases: ReadonlyArray<Case> = [
  {
    title: 'a refused table that is published no more is not sent again and again',
    plan: one('sotw', { dislikesPort: true }),
    actions: [
      publish([spec(6), spec(0)], { http: 2, alt: 1 }),
      settle,
      publish([spec(0, { backend: 0 }), spec(6, { backend: 0, ...hot })], { http: 2 }),
    ],
  },
  {
    title: 'a probe of one table acquits nobody who stands in another one',
    plan: one('sotw'),
    actions: [
      publish([spec(2)], { alt: 2 }),
      settle,
      publish([2, 6, 4].map((id) => spec(id, { backend: 0, spice: id === 4 ? 1 : 0 }))),
      edit(5, { backend: 0 }),
    ],
  },
  {
    title: 'an object that is deleted before it is refused is not held up by what else is refused',
    plan: one('sotw'),
    actions: [publish([spec(3)]), settle, edit(3, hot), settle, edit(2, hot), remove(2)],
  },
  {
    title: 'what a refused form alone names goes though something else is refused for good',
    plan: one('sotw'),
    actions: [
      publish([spec(7, { backend: 0 }), spec(0, hot)]),
      settle,
      edit(7, { backend: 1, ...hot }),
      settle,
      edit(7, { backend: 0 }),
    ],
  },
  {
    title:
      'a route whose table was taken while its answer was lost is not taken away by its next form',
    plan: one('sotw'),
    actions: [settle, edit(1), deliver(0), breaks, edit(1, { backend: 1 })],
  },
  {
    title: 'a process that comes up anew is not held to have the clusters of the one before',
    plan: one('delta'),
    actions: [
      edit(0, { backend: 0 }),
      settle,
      breaks,
      edit(0, { backend: 3 }),
      restarts,
      deliver(0, 0, 0, 1),
      crash,
    ],
  },
  {
    title: 'a cluster that changes under its name is not taken away from one that says nothing',
    plan: one('delta'),
    actions: [
      publish([spec(0, { backend: 0 })]),
      settle,
      breaks,
      publish([spec(0, { backend: 0 })], { epoch: 1 }),
      deliver(0),
      { _tag: 'Pass', ms: 12_000 },
    ],
  },
  {
    title: 'what an Envoy held whose listeners are refused holds up nothing',
    plan: one('sotw', { dislikesPort: true }),
    actions: [publish([], { http: 2 })],
  },
  {
    title: 'the clusters of a process that is gone leave, though the next one asks for no tables',
    plan: one('delta', { dislikesPort: true }),
    actions: [
      publish([spec(0, { backend: 0 })]),
      settle,
      restarts,
      deliver(0),
      publish([], { http: 2 }),
    ],
  },
  {
    title: 'an Envoy without listeners that nobody remembers holds up nothing',
    plan: one('sotw'),
    actions: [publish([], { http: 0 }), settle, forgets],
  },
  {
    title:
      'a cluster that only its Envoy knew is not taken out when it comes back beside a bad one',
    plan: one('delta'),
    actions: [
      publish([spec(0, { backend: 4 })]),
      settle,
      edit(0),
      forgets,
      deliver(0),
      publish([spec(3, { backend: 4 }), spec(5, { backend: 3 })]),
    ],
  },
  {
    title: 'an object whose claims another one has taken over in the same words is not held up',
    plan: one('sotw'),
    actions: [
      publish([spec(1, { ...hot, shared: true })], { http: 0, alt: 1 }),
      settle,
      publish([spec(0, { ...hot, shared: true })], { http: 1, alt: 2 }),
    ],
  },
  {
    title: 'that an Envoy has accepted an empty list of clusters is remembered',
    plan: one('sotw'),
    actions: [
      publish([spec(0, { backend: 1 })]),
      deliver(0, 0, 0, 0),
      crash,
      publish([]),
      settle,
      { _tag: 'Pass', ms: 12_000 },
      deliver(0, 0, 0),
      crash,
      publish([spec(0, { backend: 1 })]),
    ],
  },
  {
    title: 'a table that was not asked for when others were accepted is not held for accepted',
    plan: one('sotw', { dislikesPort: true, dislikesBackend: 6 }),
    actions: [
      publish([], { http: 0, alt: 1 }),
      settle,
      publish([spec(3, { backend: 0 }), spec(1, { backend: 0, ...hot }), spec(0)], { alt: 2 }),
      remove(3),
    ],
  },
]
