import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { XdsEvent } from 'edgewright'
import { eventually } from '../envoy.js'
import { envoyNames, startTwoEnvoys } from '../two-envoys.js'
import { aimer } from './aim.js'
import { startBackends } from './backends.js'
import { withFaultFilter } from './fault-filter.js'
import type { Entry } from './history.js'
import { type Load, startLoad } from './load.js'
import type { Plan, Step } from './plan.js'
import { type Programming, watchProgramming } from './programming.js'
import { proofsIn } from './proofs.js'
import { changeOf, openStage, type Stage } from './stage.js'

export interface ChurnRun {
  readonly entries: ReadonlyArray<Entry>
  readonly refusals: ReadonlyArray<XdsEvent>
  /** The changes that some Envoy had not proven at the end, in words. */
  readonly unproven: ReadonlyArray<string>
  readonly durationMs: number
  /** The longest time for which this process, and with it the load, was held up. */
  readonly longestPauseMs: number
}

/** Of both Envoys together, beside what watches the changes of prefixes. */
const requestsPerSecond = 180

const stepIntervalMs = 50
/** A machine that cannot keep that pace is left this long between two steps for all else that it has to do. */
const shortestPauseMs = 20

/** A change of a prefix is watched from three steps before it until no Envoy should be behind. */
const watchLeadSteps = 3
const watchMs = watchLeadSteps * stepIntervalMs + 600

/** How long the load goes on behind the last step: that long a delayed request holds a cluster, and more. */
const tailMs = 1_000

/** Far beyond what Envoys that answer need for all that is outstanding. */
const proofTimeoutMs = 10_000

/** Carries out a plan on two real Envoys under load, and tells all that happened. */
export const runChurn = async (plan: Plan): Promise<ChurnRun> => {
  const backends = await startBackends()
  const entries: Array<Entry> = []
  const refusals: Array<XdsEvent> = []
  const now = (): number => performance.now()
  const record = (entry: Entry): void => void entries.push(entry)
  let look = (): void => undefined
  const observer = (event: XdsEvent): void => {
    if (event._tag === 'ResponseNacked') refusals.push(event)
    if (event._tag === 'ResponseAcked') look()
  }
  try {
    const envoys = await startTwoEnvoys({ observer, changeListener: withFaultFilter })
    const { server } = envoys
    const programming = watchProgramming(() => proofsIn(server.ledger()), envoyNames, now, record)
    look = programming.look
    const backendPort = backends.port
    const stage = openStage({ envoys, backendPort, programming, now, record })
    const doors = envoys.envoys.map(({ name, port }) => ({ envoy: name, port }))
    try {
      stage.publish([...plan.stable, ...plan.initial].map((form) => ({ _tag: 'Formed', form })))
      await untilProven(programming)
      const startMs = now()
      const progress = { steps: 0 }
      const aim = aimer(plan, stage.lastForms, progress)
      const pauses = monitorEventLoopDelay()
      pauses.enable()
      const load = startLoad({ doors, now, record, aim, requestsPerSecond })
      await perform(plan.steps, stage, load, progress).finally(load.stop)
      const durationMs = now() - startMs
      pauses.disable()
      const unproven = await untilProven(programming)
      return { entries, refusals, unproven, durationMs, longestPauseMs: pauses.max / 1e6 }
    } finally {
      await envoys.stop()
    }
  } finally {
    await backends.stop()
  }
}

/** Resolves with what is unproven in the end. */
const untilProven = (programming: Programming): Promise<ReadonlyArray<string>> =>
  eventually(programming.open, (open) => open.length === 0, proofTimeoutMs).catch(programming.open)

const perform = async (
  steps: ReadonlyArray<Step>,
  stage: Stage,
  load: Load,
  progress: { steps: number },
): Promise<void> => {
  let dueMs = performance.now()
  for (const [index, step] of steps.entries()) {
    const ahead = steps[index + watchLeadSteps]
    if (ahead?.kind === 'prefix') void load.watch(prefixesOf(ahead), watchMs)
    await sleep(Math.max(0, dueMs - performance.now()))
    progress.steps = index
    stage.publish(changeOf(step))
    dueMs = Math.max(dueMs + stepIntervalMs, performance.now() + shortestPauseMs)
  }
  await sleep(tailMs)
}

/** The old one, and the new one. */
const prefixesOf = ({ before, after }: Step): ReadonlyArray<string> =>
  [before, after].flatMap((form) => (form === undefined ? [] : [form.prefix]))
