import { held } from '../../src/adapters/memory/envoy/client/index.js'
import { routeType } from 'edgewright'
import type { Cell, HostileFleet } from './hostile-fleet.js'
import { broken, isInForm, readTable, servedForm } from './hostile-laws.js'
import { allIds, isGuilty, isSameSpec, type Plan, type Spec, type World } from './hostile-plan.js'

/**
 * The law that an innocent route which an Envoy serves is never taken away from it, and, once it is served in its
 * present form, never goes back to another one.
 */
export interface Innocents {
  /** To be called behind every step. */
  readonly check: (fleet: HostileFleet, world: World) => void
  /** The world has changed: what changed with it may come and go until it is at rest. */
  readonly onChange: (before: World, after: World) => void
  /** A stream of this Envoy has broken: what it refuses may be lost with what was noted of it. */
  readonly onBreak: (index: number) => void
  /** Its process has ended, with all that it served. */
  readonly onRestart: (index: number) => void
}

const tables = ['http', 'alt'] as const

export const watchInnocents = ({ envoys }: Plan): Innocents => {
  /** The spec with which an object was last seen served: `isNow` if in this very form. */
  const served = new Map<string, { readonly spec: Spec; readonly isNow: boolean }>()
  /** Has changed since it was last seen at rest. */
  const unstable = new Set<string>()
  /** Has come or gone since it was last seen at rest, or not at all. */
  const reborn = new Set<string>()
  const broke = new Set<number>()
  const markOf = (index: number, table: string, id: number): string => `${index} ${table} ${id}`

  const checkOne = (
    cell: Cell,
    table: string,
    spec: Spec,
    text: string | undefined,
    isQuiet: boolean,
  ): void => {
    const mark = markOf(cell.index, table, spec.id)
    const isNow = isInForm(text, spec)
    if (isQuiet && isNow) unstable.delete(mark)
    if ((isQuiet && isNow) || text === undefined) reborn.delete(mark)
    const before = served.get(mark)
    const of = envoys[cell.index]
    if (
      spec.shared ||
      (text === undefined && of !== undefined && broke.has(cell.index) && isGuilty(of, spec))
    ) {
      served.delete(mark)
      return
    }
    if (reborn.has(mark)) return
    const where = `${cell.id} in ${table}`
    if (text === undefined) {
      if (before !== undefined)
        broken(
          `${where} served ${JSON.stringify(before.spec)}: now ${JSON.stringify(spec)} is not there`,
        )
      return
    }
    if (before?.isNow === true && isSameSpec(before.spec, spec) && !isNow && !unstable.has(mark))
      broken(`${where} served ${JSON.stringify(spec)}: now it is there in another form`)
    served.set(mark, { spec, isNow })
  }

  return {
    check: (fleet, world) => {
      const isQuiet = !fleet.hasMessages()
      for (const cell of fleet.cells) {
        const { active, serving } = cell.state().listeners
        const all = held(cell.state())[routeType]
        for (const table of tables) {
          const isOff = world[table] === 0 || !serving || !active.has(table)
          for (const id of allIds)
            if (isOff || !world.specs.some((spec) => spec.id === id))
              served.delete(markOf(cell.index, table, id))
          if (isOff) continue
          const bytes = all.get(table)?.bytes
          const content = bytes === undefined ? undefined : readTable(bytes)
          for (const spec of world.specs)
            checkOne(cell, table, spec, servedForm(content, spec.id), isQuiet && cell.isConnected())
        }
      }
    },
    onChange: (before, after) => {
      for (const table of tables)
        for (const id of allIds) {
          const [was, is] = [before, after].map(({ specs }) => specs.find((spec) => spec.id === id))
          const isMoved = before[table] !== after[table]
          const isSame =
            was === is || (was !== undefined && is !== undefined && isSameSpec(was, is))
          if (isSame && !isMoved) continue
          const isReborn = isMoved || was === undefined || is?.shared !== was.shared
          for (const index of envoys.keys()) {
            const mark = markOf(index, table, id)
            unstable.add(mark)
            if (!isReborn) continue
            reborn.add(mark)
            served.delete(mark)
          }
        }
    },
    onBreak: (index) => void broke.add(index),
    onRestart: (index) => {
      for (const mark of [...served.keys()]) if (mark.startsWith(`${index} `)) served.delete(mark)
    },
  }
}
