import { type Random, randomOf } from './random.js'
import { backendCount, contextCount, fewHosts, hostCount, nameCount } from './routes.js'
import type { EnvoySetup, Plan, Setup, SpecChoice, Step } from './steps.js'

type Tag = Step['_tag']
type Weights = Readonly<Partial<Record<Tag, number>>>

/** What a run is mostly about. */
interface Profile {
  readonly weights: Weights
  /** How often two Envoys have one id. */
  readonly twins?: number
  /** The Envoys have come, and the wait after a start is over, before anything else happens. */
  readonly settled: number
  /** The listeners that there are as a rule. */
  readonly context?: number
}

/** What happens in every run. */
const everyday: Weights = {
  Create: 5,
  Update: 3,
  Delete: 5,
  Meddle: 0.7,
  Deliver: 14,
  Attend: 8,
  Pass: 8,
}

const profiles: Readonly<Record<string, Profile>> = {
  calm: { settled: 0.9, weights: {} },
  connections: {
    settled: 0.7,
    weights: { Break: 4, Cut: 2, Heal: 3, LoseVersions: 1, Launch: 1, Kill: 0.5, ForgetNode: 0.5 },
  },
  crashes: {
    settled: 0.5,
    weights: { Crash: 3, Start: 5, Break: 1, Cut: 1, Heal: 2, Launch: 0.5 },
  },
  refusals: {
    settled: 0.8,
    context: 3,
    weights: {
      Dislike: 5,
      Update: 4,
      Break: 1.5,
      LoseVersions: 0.7,
      Resolver: 2,
      Crash: 0.4,
      Start: 1,
    },
  },
  twins: {
    settled: 0.7,
    twins: 1,
    weights: { Break: 3, Cut: 2, Heal: 2, Launch: 1, LoseVersions: 0.5, Crash: 0.5, Start: 2 },
  },
  server: {
    settled: 0.8,
    weights: { Api: 3, Watch: 2, ForgetHistory: 0.7, Meddle: 3, Crash: 0.5, Start: 2 },
  },
  disk: {
    settled: 0.3,
    weights: { Disk: 3, Crash: 2, Start: 4, Launch: 1, Break: 1, Cut: 1, Heal: 2, ForgetNode: 0.5 },
  },
  listeners: {
    settled: 0.6,
    weights: { Stop: 2, Crash: 1, Start: 4, BusyPort: 1.5, Break: 1, Dislike: 0.7 },
  },
  people: {
    settled: 0.8,
    weights: { Meddle: 3, BreakGlass: 1.5, ForgetNode: 1.5, Cut: 2, Heal: 1.5, Kill: 1, Launch: 1 },
  },
  everything: {
    settled: 0.4,
    twins: 0.3,
    weights: {
      Meddle: 1,
      Break: 1.5,
      Cut: 1,
      Heal: 2,
      Kill: 0.4,
      Launch: 1,
      LoseVersions: 0.6,
      Dislike: 1,
      BusyPort: 0.4,
      Resolver: 0.5,
      Api: 1,
      Watch: 0.7,
      ForgetHistory: 0.3,
      Disk: 1,
      Crash: 1,
      Stop: 0.4,
      Start: 3,
      ForgetNode: 0.3,
      BreakGlass: 0.2,
    },
  },
}

/** The run of a seed. */
export const planOf = (seed: number): Plan => {
  const random = randomOf(seed)
  const names = Object.keys(profiles)
  const profile = names[random.below(names.length)] ?? 'calm'
  const {
    weights,
    twins = 0.05,
    settled,
    context = 0,
  } = profiles[profile] ?? { weights: {}, settled: 1 }
  const envoys = envoysOf(random, random.chance(twins))
  const setup: Setup = {
    seed,
    profile,
    envoys,
    refusesToTheEnd: random.chance(0.5),
    forgetsTheDead: random.chance(0.5),
  }
  const count = 30 + random.below(70)
  const draw = drawing(random, { ...everyday, ...weights })
  const steps = [
    ...prelude(random, envoys, { settled, context }),
    ...Array.from({ length: count }, draw),
  ]
  const forms = randomOf(seed ^ 0xf0f0)
  return forms.chance(0.5) ? inForms(forms, { setup, steps }) : { setup, steps }
}

/** The same with tables that go into shards and back, and more hosts: by draws of their own, on which no other depends. */
const inForms = (random: Random, { setup, steps }: Plan): Plan => {
  const shards = 1 + random.below(3)
  const up = 1 + random.below(4)
  const down = random.below(up + 1)
  const restMs = random.pick([0, 5_000, 60_000])
  return {
    setup: { ...setup, shards, formLimits: { up, down, restMs } },
    steps: steps.map((step): Step => {
      if (step._tag === 'Create' || step._tag === 'Update')
        return { ...step, spec: { ...step.spec, host: random.below(hostCount) } }
      if (step._tag === 'Start')
        // Now and then the next process has another configuration.
        return { ...step, shards: random.chance(0.8) ? shards : random.below(4) }
      return step
    }),
  }
}

const envoysOf = (random: Random, hasTwins: boolean): ReadonlyArray<EnvoySetup> =>
  Array.from({ length: (hasTwins ? 2 : 1) + random.below(3) }, (_, index): EnvoySetup => ({
    id: `envoy-${hasTwins && index === 1 ? 0 : index}`,
    variant: random.pick(['sotw', 'delta']),
    seed: random.below(1_000),
    dislikesBackend: random.chance(0.3) ? 4 + random.below(3) : 0,
    drainMs: random.pick([600_000, 20_000]),
  }))

const prelude = (
  random: Random,
  envoys: ReadonlyArray<EnvoySetup>,
  { settled, context }: Required<Pick<Profile, 'settled' | 'context'>>,
): ReadonlyArray<Step> => {
  const launches = envoys.map((_, envoy): Step => ({ _tag: 'Launch', envoy }))
  const creations = [0, 1, 2].map((name): Step => ({
    _tag: 'Create',
    name,
    spec: specOf(random),
    isHeld: false,
  }))
  const start: Step = {
    _tag: 'Start',
    context: random.chance(0.7) ? context : random.below(contextCount),
  }
  if (!random.chance(settled)) return [start, ...launches, ...creations]
  const settle: Step = { _tag: 'Deliver', count: 200, choice: 1 }
  const connect: Step = { _tag: 'Pass', ms: 30_000 }
  return [start, ...launches, ...creations, connect, settle, { ...connect, ms: 31_000 }, settle]
}

const specOf = (random: Random): SpecChoice => ({
  host: random.below(fewHosts),
  path: random.below(4),
  backend: random.below(backendCount),
  spice: random.chance(0.3) ? 1 + random.below(2) : 0,
  isInvalid: random.chance(0.06),
})

const drawing = (random: Random, weights: Weights) => (): Step => {
  const name = random.below(nameCount)
  const envoy = random.below(4)
  const _tag = random.weighed(weights)
  switch (_tag) {
    case 'Create':
      return { _tag, name, spec: specOf(random), isHeld: random.chance(0.1) }
    case 'Update':
      return { _tag, name, spec: specOf(random) }
    case 'Delete':
    case 'BreakGlass':
      return { _tag, name }
    case 'Meddle':
      return {
        _tag,
        name,
        how: random.pick(['StripFinalizer', 'Hold', 'LetGo', 'Label', 'Label', 'Status', 'Status']),
      }
    case 'Deliver':
      return { _tag, count: random.pick([1, 2, 4, 8, 100]), choice: random.below(1_000) }
    case 'Attend':
      return { _tag, envoy, count: random.pick([1, 2, 3, 6, 50]) }
    case 'Pass':
      return { _tag, ms: random.pick([1, 10, 60, 101, 300, 1_100, 5_000, 11_000, 61_000]) }
    case 'Break':
      return { _tag, envoy, isHalf: random.chance(0.4) }
    case 'Cut':
    case 'Heal':
    case 'Kill':
    case 'Launch':
    case 'LoseVersions':
    case 'ForgetNode':
      return { _tag, envoy }
    case 'Dislike':
      return { _tag, envoy, spice: random.below(3) }
    case 'BusyPort':
      return { _tag, envoy, isBusy: random.chance(0.6) }
    case 'Resolver':
      return { _tag, works: random.chance(0.5) }
    case 'Api':
      return { _tag, weather: weatherOf(random), seed: random.below(1_000_000) }
    case 'Watch':
      return { _tag, fate: random.pick(['Close', 'Gone', 'Freeze']) }
    case 'Disk':
      return { _tag, weather: random.pick(['Fine', 'Slow', 'Failing', 'Lying']) }
    case 'Start':
      return { _tag, context: random.chance(0.6) ? 0 : random.below(contextCount) }
    case 'ForgetHistory':
    case 'Crash':
    case 'Stop':
      return { _tag }
  }
}

const weatherOf = (random: Random) => ({
  failing: random.pick([0, 0.1, 0.5]),
  slow: random.pick([0, 0.3, 1]),
  slowMs: random.pick([50, 1_000, 8_000]),
  lossy: random.pick([0, 0.1, 0.4]),
})
