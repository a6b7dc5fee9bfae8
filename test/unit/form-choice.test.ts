import { expect, test } from 'vitest'
import {
  chooseForm,
  chooseForms,
  type FormChoice,
  formLimits,
  nextFormTimer,
  noFormChoices,
} from '../../src/core/form-choice.js'

const plane = { shards: 256 }
const { restMs } = formLimits

/** `whole`, `256`; with `@` when it is to be switched. */
const show = ({ form, dueAt }: FormChoice): string =>
  (form._tag === 'Whole' ? 'whole' : String(form.shards)) + (dueAt === undefined ? '' : `@${dueAt}`)

/** What is decided as time and the number of hosts go on. */
const decided = (
  course: ReadonlyArray<readonly [nowMs: number, hosts: number]>,
  of: { readonly shards?: number } = plane,
): ReadonlyArray<string> => {
  let choice: FormChoice | undefined
  return course.map(([nowMs, hosts]) => {
    choice = chooseForm(choice, of, hosts, nowMs)
    return show(choice)
  })
}

test('tables are in shards from a thousand hosts on, and until there are fewer than five hundred', () => {
  const counts = [999, 1_000, 999, 500, 499, 999, 1_000]
  const course = counts.map((hosts, i) => [i * restMs, hosts] as const)
  expect(decided(course)).toEqual(['whole', '256', '256', '256', 'whole', 'whole', '256'])
})

test('the first decision is made at once, and is no switch', () => {
  expect(decided([[0, 5_000]])).toEqual(['256'])
  expect(
    decided([
      [0, 0],
      [1, 5_000],
      [2, 0],
    ]),
  ).toEqual(['whole', '256', `256@${1 + restMs}`])
  expect(
    decided([
      [0, 5_000],
      [1, 0],
      [2, 5_000],
    ]),
  ).toEqual(['256', 'whole', `whole@${1 + restMs}`])
})

test('a switch waits for ten minutes after the last one, and is off if it is wanted no more', () => {
  const waits = [
    [0, 0],
    [1, 1_000],
    [2, 10],
    [restMs, 10],
  ] as const
  expect(decided([...waits, [restMs + 1, 10]]).slice(2)).toEqual([
    `256@${restMs + 1}`,
    `256@${restMs + 1}`,
    'whole',
  ])
  expect(decided([...waits, [restMs + 1, 600]]).slice(3)).toEqual([`256@${restMs + 1}`, '256'])
})

test('nothing is ever in shards where there may be none', () => {
  expect(
    decided(
      [
        [0, 9_999],
        [1, 0],
        [2, 9_999],
      ],
      { shards: 0 },
    ),
  ).toEqual(Array(3).fill('whole'))
  expect(decided([[0, 9_999]], {})).toEqual(['whole'])
})

test('what is as it was is the very same; the forms are until there is a switch', () => {
  const planes = new Map([
    ['a', plane],
    ['b', plane],
  ])
  const first = chooseForms(noFormChoices, planes, new Map([['a', 10]]), 0)
  expect(chooseForms(first, planes, new Map([['a', 999]]), 1)).toBe(first)
  expect(first.forms).toBe(noFormChoices.forms)
  const second = chooseForms(first, planes, new Map([['a', 1_000]]), 2)
  expect(second.byPlane.get('b')).toBe(first.byPlane.get('b'))
  expect([...second.forms.values()].map(({ _tag }) => _tag)).toEqual(['Sharded', 'Whole'])
  const third = chooseForms(second, planes, new Map([['a', 10]]), 3)
  expect(third.forms).toBe(second.forms)
  expect([second, third].map(nextFormTimer)).toEqual([undefined, 2 + restMs])
})
