import { expect, test } from 'vitest'
import { ownConditionsIn } from '../../src/core/own-conditions.js'
import type { Condition } from '../../src/core/status.js'

const accepted: Condition = {
  type: 'Accepted',
  status: 'True',
  reason: 'Accepted',
  message: '',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-31T12:00:00Z',
}

test('conditions of our types are read as they are, without what others have added to them', () => {
  const conditions = [accepted, { ...accepted, type: 'Programmed', more: 1 }]
  expect(ownConditionsIn(conditions)).toEqual({
    conditions: [accepted, { ...accepted, type: 'Programmed' }],
  })
})

test.each([
  ['status', 'Unknown'],
  ['reason', undefined],
  ['message', 1],
  ['observedGeneration', undefined],
  ['lastTransitionTime', null],
])('one of our types whose %s is %s is none of ours, and is noted', (field, value) => {
  expect(ownConditionsIn([accepted, { ...accepted, [field]: value }])).toEqual({
    conditions: [accepted],
    hasForeignConditions: true,
  })
})

test.each([{ ...accepted, type: 'Known' }, { type: 1 }, {}, [], 'Accepted', null, undefined])(
  'what has another type, or none, is not looked at: %j',
  (other) => {
    expect(ownConditionsIn([other])).toEqual({ conditions: [] })
  },
)
