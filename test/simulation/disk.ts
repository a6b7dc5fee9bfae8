import * as E from 'fp-ts/lib/Either.js'
import { memoryRosterStore } from '../../src/adapters/memory/roster-store.js'
import type { Roster } from '../../src/core/roster.js'
import type { RosterError, RosterStore } from '../../src/ports/roster-store.js'
import type { SteppingClock } from './clock.js'
import type { Random } from './random.js'
import type { DiskWeather } from './steps.js'

/** Where the roster is, with all that can go wrong there. */
export interface Disk {
  readonly change: (weather: DiskWeather) => void
  /** As one process sees it. */
  readonly mount: () => Mount
  /** The ids that would be read now. */
  readonly ids: () => ReadonlySet<string>
  /** Those of them that several Envoys have had at once. */
  readonly shared: () => ReadonlySet<string>
  /** How many writes have failed, or were slow, so far. */
  readonly troubles: () => number
}

export interface Mount {
  readonly store: RosterStore
  /** The process is gone: what it was writing is there, or is not. */
  readonly die: () => void
}

const slowestMs = 9_000

export const makeDisk = (clock: SteppingClock, random: Random): Disk => {
  const paper = memoryRosterStore()
  let weather: DiskWeather = 'Fine'
  let troubles = 0
  let ids: ReadonlySet<string> = new Set()
  let shared: ReadonlySet<string> = new Set()

  const put = (roster: Roster): void => {
    ids = new Set(roster.keys())
    shared = new Set([...roster.values()].flatMap(({ id, isShared }) => (isShared ? [id] : [])))
    void paper.save(roster)()
  }
  const failure = E.left<RosterError>({ _tag: 'Unavailable', message: 'the disk is not well' })
  const mount = (): Mount => {
    let isDead = false
    const underWay = new Set<() => void>()
    const later = <A>(ms: number, answer: () => A, never: () => void): Promise<A> =>
      new Promise((resolve) => {
        const finish = (): void => {
          underWay.delete(never)
          if (!isDead) resolve(answer())
        }
        underWay.add(never)
        if (ms === 0) finish()
        else clock.after(ms, finish)
      })
    const store: RosterStore = {
      load: () => () => {
        const isFailing = weather === 'Failing' && random.chance(0.7)
        return later(
          weather === 'Slow' ? random.below(slowestMs) : 0,
          () => (isFailing ? undefined : paper.load()()),
          () => undefined,
        ).then((read) => read ?? failure)
      },
      save: (roster) => () => {
        if (isDead) return new Promise(() => undefined)
        if (weather !== 'Fine') troubles += 1
        const ms = weather === 'Slow' ? random.below(slowestMs) : 0
        const fails = (weather === 'Failing' && random.chance(0.8)) || weather === 'Lying'
        const takesEffect = !fails || (weather === 'Lying' && random.chance(0.5))
        const answer = (): E.Either<RosterError, void> => {
          if (takesEffect) put(roster)
          return fails ? failure : E.right(undefined)
        }
        return later(ms, answer, () => {
          if (takesEffect && random.chance(0.5)) put(roster)
        })
      },
    }
    const die = (): void => {
      if (isDead) return
      isDead = true
      for (const never of underWay) never()
      underWay.clear()
    }
    return { store, die }
  }
  return {
    change: (next) => {
      weather = next
    },
    mount,
    ids: () => ids,
    shared: () => shared,
    troubles: () => troubles,
  }
}
