import { test } from '@fast-check/vitest'
import { expect } from 'vitest'
import { changedKeys } from '../../src/core/ordered-map.js'
import * as PM from '../../src/core/persistent-map.js'
import type { Resource } from '../../src/core/resource.js'
import { translate } from '../../src/core/translate.js'
import { emptyWorld, translator, worldChange } from '../../src/core/translator.js'
import { typeUrls } from '../../src/core/type-url.js'
import { inForms } from '../support/forms.js'
import { history } from '../support/histories.js'
import { contentOf, verdictText } from '../support/oracle/content.js'

const runs = { numRuns: 1000 }

test.prop([history], runs)(
  'after every change it says, byte for byte and word for word, what a translation of all there is says',
  ({ dataPlanes, steps }) => {
    const incremental = translator(dataPlanes)
    let before = emptyWorld
    let inForce = dataPlanes
    for (const { forms: given, ...now } of steps) {
      const actual = incremental.update({ ...worldChange(before, now), forms: given })
      before = now
      inForce = inForms(inForce, given)
      const expected = translate(now.routes, { ...now, dataPlanes: inForce })
      expect(contentOf(actual.snapshot)).toBe(contentOf(expected.snapshot))
      expect(verdictText(actual)).toBe(verdictText(expected))
      expect([...actual.hosts]).toStrictEqual([...expected.hosts])
    }
  },
)

const resourcesOf = (translation: ReturnType<typeof translate>): ReadonlyMap<string, Resource> =>
  new Map(
    [...translation.snapshot.dataPlanes].flatMap(([plane, view]) =>
      typeUrls.flatMap((typeUrl) =>
        [...PM.entries(view[typeUrl])].map((each) => [`${plane} ${typeUrl} ${each.name}`, each]),
      ),
    ),
  )

test.prop([history], runs)(
  'what a change does not touch is the very same: resources, types, data planes, verdicts',
  ({ dataPlanes, steps }) => {
    const incremental = translator(dataPlanes)
    let last = incremental.update(worldChange(emptyWorld, emptyWorld))
    let before = emptyWorld
    for (const { forms: given, ...now } of steps) {
      const next = incremental.update({ ...worldChange(before, now), forms: given })
      const known = resourcesOf(last)
      for (const [name, resource] of resourcesOf(next)) {
        const old = known.get(name)
        if (JSON.stringify(old) === JSON.stringify(resource)) expect(resource, name).toBe(old)
      }
      const said = changedKeys(last.verdicts, next.verdicts)
      const differ = [...new Set([...last.verdicts.keys(), ...next.verdicts.keys()])].filter(
        (uid) => JSON.stringify(last.verdicts.get(uid)) !== JSON.stringify(next.verdicts.get(uid)),
      )
      expect(said).toEqual(differ.sort())
      const isSame = JSON.stringify([...known]) === JSON.stringify([...resourcesOf(next)])
      expect(next.snapshot === last.snapshot).toBe(isSame)
      before = now
      last = next
    }
  },
)
