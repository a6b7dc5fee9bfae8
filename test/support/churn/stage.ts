import type { EdgeRoute } from 'edgewright'
import type { TwoEnvoys } from '../two-envoys.js'
import type { Entry } from './history.js'
import type { Form, Step } from './plan.js'
import type { Change, Programming } from './programming.js'
import { routeOf, servicesOf } from './routes.js'

/** What is published, and all that happens to it. */
export interface Stage {
  /** Publishes these changes, all in one snapshot. */
  readonly publish: (changes: ReadonlyArray<Change>) => void
  /** Of each slot the form that is published, or the last one that was. */
  readonly lastForms: ReadonlyMap<number, Form>
}

export interface StageOptions {
  readonly envoys: TwoEnvoys
  readonly backendPort: number
  readonly programming: Programming
  readonly now: () => number
  readonly record: (entry: Entry) => void
}

export const openStage = (options: StageOptions): Stage => {
  const { envoys, backendPort, programming, now, record } = options
  const present = new Map<number, Form>()
  const lastForms = new Map<number, Form>()
  // The same form is the same object each time: so it is compiled once only.
  const routesMade = new WeakMap<Form, EdgeRoute>()
  const routeFor = (form: Form): EdgeRoute => {
    const route = routesMade.get(form) ?? routeOf(form, backendPort)
    routesMade.set(form, route)
    return route
  }
  return {
    lastForms,
    publish: (changes) => {
      for (const { _tag, form } of changes) {
        if (_tag === 'Removed') present.delete(form.slot)
        else present.set(form.slot, form)
        lastForms.set(form.slot, form)
      }
      const forms = [...present.values()]
      const routes = forms.map(routeFor)
      const snapshot = envoys.snapshot(routes, servicesOf(forms, backendPort))
      const atMs = now()
      for (const change of changes) {
        record(entryOf(change, atMs))
        programming.expect(change)
      }
      envoys.server.publish(snapshot)
    },
  }
}

/** What a step changes. */
export const changeOf = ({ before, after }: Step): ReadonlyArray<Change> => {
  if (after !== undefined) return [{ _tag: 'Formed', form: after }]
  return before === undefined ? [] : [{ _tag: 'Removed', form: before }]
}

const entryOf = ({ _tag, form }: Change, atMs: number): Entry => {
  const { uid, generation, prefix, backends } = form
  if (_tag === 'Removed') return { _tag: 'Withdrawn', atMs, uid }
  const addresses = backends.map(({ address }) => address)
  return { _tag: 'Published', atMs, uid, generation, prefix, backends: addresses }
}
