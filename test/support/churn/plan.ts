import { below, oneOf, type Prng, prngOf } from './prng.js'

/** One form of a route, in the terms of the test. */
export interface Form {
  /** Its place among the routes: objects come and go in it, one at a time. */
  readonly slot: number
  /** A new one for each object. */
  readonly uid: string
  /** Counts the forms of one object. */
  readonly generation: number
  /** Never used twice in a plan: an answer to it can be laid at one door. */
  readonly prefix: string
  readonly backends: ReadonlyArray<Backend>
  readonly requestTimeout: string
}

export interface Backend {
  /** Of 127.0.0.0/8; no two backends share one. */
  readonly address: string
  /** How the route names it: then it is a static cluster, or one with endpoints from the control plane. */
  readonly by: 'address' | 'service'
  readonly weight: number
}

export type StepKind = 'add' | 'remove' | 'backend' | 'weights' | 'prefix' | 'timeout'

/** One change of one route. At least one of `before` and `after` is there. */
export interface Step {
  readonly kind: StepKind
  readonly slot: number
  readonly before?: Form
  readonly after?: Form
}

export interface Plan {
  readonly seed: number
  /** Never change. */
  readonly stable: ReadonlyArray<Form>
  /** What stands in the changing slots at the start. */
  readonly initial: ReadonlyArray<Form>
  readonly steps: ReadonlyArray<Step>
}

export interface PlanSize {
  readonly stable: number
  readonly changing: number
  readonly steps: number
}

/** The changes of a route that is there, each as often as it stands here. */
const changes: ReadonlyArray<StepKind> = [
  ...Array<StepKind>(6).fill('backend'),
  ...Array<StepKind>(4).fill('weights'),
  ...Array<StepKind>(4).fill('prefix'),
  ...Array<StepKind>(3).fill('timeout'),
  ...Array<StepKind>(3).fill('remove'),
]

/** All far beyond what an answer takes. */
const requestTimeouts = ['10s', '12s', '15s', '20s']

/**
 * Makes a plan of changes; the same for the same seed and size. One change in four of a backend goes back
 * to one that the route has left before: its cluster may be there still, be about to go, or be gone.
 */
export const planOf = (seed: number, size: PlanSize): Plan => {
  const maker = formMaker(prngOf(seed))
  const slots = Array.from({ length: size.stable + size.changing }, (_, slot) => slot)
  const first = slots.map(maker.add)
  const forms = new Map(first.slice(size.stable).map((form) => [form.slot, form]))
  const steps = Array.from({ length: size.steps }, (): Step => {
    const slot = oneOf(maker.prng, slots.slice(size.stable))
    const before = forms.get(slot)
    const [kind, after] =
      before === undefined ? (['add', maker.add(slot)] as const) : maker.change(before)
    if (after === undefined) forms.delete(slot)
    else forms.set(slot, after)
    return {
      kind,
      slot,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    }
  })
  return { seed, stable: first.slice(0, size.stable), initial: first.slice(size.stable), steps }
}

interface FormMaker {
  readonly prng: Prng
  readonly add: (slot: number) => Form
  readonly change: (form: Form) => readonly [StepKind, Form | undefined]
}

const formMaker = (prng: Prng): FormMaker => {
  let numbers = 0
  const unused = (): number => (numbers += 1)
  const backends = backendMaker(prng, unused)
  const prefix = (slot: number): string => `/slot-${slot}/${unused()}`
  const timeout = (but?: string): string =>
    oneOf(
      prng,
      requestTimeouts.filter((each) => each !== but),
    )
  const add = (slot: number): Form => ({
    slot,
    uid: `uid-${slot}-${unused()}`,
    generation: 1,
    prefix: prefix(slot),
    backends: backends(slot),
    requestTimeout: timeout(),
  })
  const change = (form: Form): readonly [StepKind, Form | undefined] => {
    const wanted = oneOf(prng, changes)
    const kind = wanted === 'weights' && form.backends.length === 1 ? 'timeout' : wanted
    const next = { ...form, generation: form.generation + 1 }
    switch (kind) {
      case 'backend':
        return [kind, { ...next, backends: otherThan(form.backends, () => backends(form.slot)) }]
      case 'weights':
        return [kind, { ...next, backends: form.backends.map((each) => reweighed(each, prng)) }]
      case 'prefix':
        return [kind, { ...next, prefix: prefix(form.slot) }]
      case 'timeout':
        return [kind, { ...next, requestTimeout: timeout(form.requestTimeout) }]
      case 'add':
      case 'remove':
        return ['remove', undefined]
    }
  }
  return { prng, add, change }
}

/** Draws one or two backends for a slot: new ones, or such as the slot has had. */
const backendMaker = (
  prng: Prng,
  unused: () => number,
): ((slot: number) => ReadonlyArray<Backend>) => {
  const former = new Map<number, ReadonlyArray<Backend>>()
  const backend = (slot: number): Backend => {
    const old = former.get(slot) ?? []
    if (old.length > 0 && below(prng, 4) === 0) return { ...oneOf(prng, old), weight: weight(prng) }
    const by = oneOf(prng, ['address', 'service'] as const)
    const fresh: Backend = { address: addressOf(unused()), by, weight: weight(prng) }
    former.set(slot, [...old, fresh])
    return fresh
  }
  return (slot) => {
    const drawn = Array.from({ length: 1 + below(prng, 2) }, () => backend(slot))
    return [...new Map(drawn.map((each) => [each.address, each])).values()]
  }
}

const addressOf = (count: number): string => `127.1.${count >> 8}.${count & 0xff}`

const weight = (prng: Prng): number => 1 + below(prng, 100)

const reweighed = (backend: Backend, prng: Prng): Backend => ({
  ...backend,
  weight: 1 + ((backend.weight + below(prng, 98)) % 100),
})

/** How often another set of backends is drawn at most: one in sixteen is the same by chance, at worst. */
const maxDraws = 100

const otherThan = (
  backends: ReadonlyArray<Backend>,
  draw: () => ReadonlyArray<Backend>,
): ReadonlyArray<Backend> => {
  const names = (of: ReadonlyArray<Backend>): string =>
    of
      .map(({ address }) => address)
      .sort()
      .join()
  for (let draws = 0; draws < maxDraws; draws += 1) {
    const drawn = draw()
    if (names(drawn) !== names(backends)) return drawn
  }
  throw new Error('no other backends were drawn')
}
