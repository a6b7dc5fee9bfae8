import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptyOrderedMap } from '../../src/core/ordered-map.js'
import * as PM from '../../src/core/persistent-map.js'
import {
  nothingProgrammed,
  type ProgrammedState,
  stepProgrammed,
} from '../../src/core/programmed.js'
import { movedRoutes } from '../../src/core/programmed/places.js'
import { emptySnapshot, type Snapshot } from '../../src/core/snapshot.js'
import { routeType } from '../../src/core/type-url.js'
import { judge, nothingJudged } from '../../src/host/programmed-verdicts.js'
import { observations, tellings } from '../support/programmed-changes.js'

/** All of a state but what it was made of. */
const saidIn = ({ statements, open, due, nodes, empty, closed }: ProgrammedState): unknown => ({
  statements: [...statements],
  open: [...open].sort(),
  due,
  nodes: [...nodes],
  empty: [...empty],
  closed: [...closed],
})

/** Has seen nothing of what it looks at, so that it looks at everything. */
const unseeing = (state: ProgrammedState): ProgrammedState => ({
  ...state,
  snapshot: undefined,
  verdicts: emptyOrderedMap,
})

/** Read from what stands in the tables themselves. */
const standingIn = ({ dataPlanes }: Snapshot): ReadonlySet<string> =>
  new Set(
    [...dataPlanes.values()].flatMap((view) =>
      [...PM.entries(view[routeType])].flatMap(({ content }) =>
        content._tag === 'Bytes'
          ? []
          : content.table.virtualHosts.flatMap(({ fragments }) =>
              fragments.map(({ owner }) => owner),
            ),
      ),
    ),
  )

test('who looks only at what has changed says, after every change, what one says who looks at everything', () => {
  const turns = new Map<string, number>()
  const holds = fc.property(tellings, (told) => {
    let state = nothingProgrammed
    for (const seen of observations(told)) {
      const [next, statements] = stepProgrammed(state, seen)
      const [anew] = stepProgrammed(unseeing(state), seen)
      expect(saidIn(next)).toEqual(saidIn(anew))
      expect(new Set(statements.keys())).toEqual(standingIn(seen.snapshot))
      expect(stepProgrammed(next, seen)[1]).toBe(statements)
      for (const [uid, { _tag }] of statements) {
        const turn = `${state.statements.get(uid)?._tag ?? 'Nothing'} to ${_tag}`
        turns.set(turn, (turns.get(turn) ?? 0) + 1)
      }
      state = next
    }
  })
  fc.assert(holds, { numRuns: 400 })
  for (const from of ['Nothing', 'Programmed', 'Pending', 'Refused', 'NoEnvoy'])
    for (const to of ['Programmed', 'Pending', 'Refused', 'NoEnvoy'])
      if (!impossible.has(`${from} to ${to}`))
        expect(turns.get(`${from} to ${to}`), `${from} to ${to}`).toBeGreaterThan(3)
})

/** What is programmed is taken back only as lagging, refused or without an Envoy. */
const impossible = new Set(['Programmed to Pending'])

/** Each place of each route. */
const placesIn = ({ dataPlanes }: Snapshot): ReadonlyMap<string, string> => {
  const places = new Map<string, string>()
  for (const [dataPlane, view] of dataPlanes)
    for (const { name, owners } of PM.entries(view[routeType]))
      for (const uid of owners) places.set(uid, `${places.get(uid) ?? ''} ${dataPlane}/${name}`)
  return places
}

test('a route has moved exactly if it stands in other tables than before', () => {
  const holds = fc.property(tellings, (told) => {
    const snapshots = [undefined, ...[...observations(told)].map(({ snapshot }) => snapshot)]
    snapshots.forEach((before, at) => {
      for (const after of snapshots.slice(at + 1, at + 3).concat(emptySnapshot)) {
        if (after === undefined) continue
        const [old, now] = [placesIn(before ?? emptySnapshot), placesIn(after)]
        const uids = [...new Set([...old.keys(), ...now.keys()])]
        const expected = uids.filter((uid) => old.get(uid) !== now.get(uid))
        expect(new Set(movedRoutes(before, after))).toEqual(new Set(expected))
      }
    })
  })
  fc.assert(holds, { numRuns: 100 })
})

test('a verdict says what the translation says, and what is said of its route; and is the very same as long as both are', () => {
  const holds = fc.property(tellings, (told) => {
    let judged = nothingJudged
    for (const { translation, ledger, nowMs } of observations(told)) {
      const before = judged
      judged = judge(before, translation, ledger, nowMs)
      const { statements } = judged.programmed
      const expected = [...translation.verdicts].map(([uid, verdict]) => {
        const programmed = statements.get(uid)
        return [uid, programmed === undefined ? verdict : { ...verdict, programmed }]
      })
      expect([...judged.verdicts]).toEqual(expected)
      for (const [uid, verdict] of translation.verdicts) {
        const isSame =
          before.translated.get(uid) === verdict &&
          before.programmed.statements.get(uid) === statements.get(uid)
        if (isSame) expect(judged.verdicts.get(uid)).toBe(before.verdicts.get(uid))
      }
      expect(judge(judged, translation, ledger, nowMs).verdicts).toBe(judged.verdicts)
    }
  })
  fc.assert(holds, { numRuns: 200 })
})
