import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * The statements about a server's answers to which the session is held, by their numbers (streams,
 * answers, subscriptions, reconnecting), and where each is tested.
 */
const session = 'named tests of the session'
const ledger = 'what clients have accepted is kept by the ledger, not by the session'
const server = 'the transport’s limits: test/io/xds-server-limits.test.ts'

const statements: Readonly<Record<string, string>> = {
  '1': session,
  '2': session, // on aggregated streams; there are no streams of one type
  '3': session,
  '4': session,
  '5': session,
  '6': session,
  '7': session,
  '7b': session,
  '8': session,
  '9': session,
  '10': session,
  '11': session,
  '12': session,
  '13': session,
  '14': session,
  '15': session,
  '16': session,
  '17': ledger,
  '18': session,
  '18b': 'the planner’s: what is refused is split there',
  '19': session,
  '20': ledger,
  '21': ledger,
  '22': session,
  '23': session, // names and types of what is sent agree; their encoding is the codec’s
  '24': 'the data plane’s: it binds what may be promised, not what is sent',
  '25': session,
  '26': session,
  '27': session,
  '28': session,
  '29': session,
  '30': session,
  '31': session,
  '32': session,
  '33': session,
  '34': session,
  '35': session,
  '36': session,
  '37': session,
  '38': session,
  '39': session,
  '40': session,
  '41': session,
  '41b': session,
  '42': session,
  '43': session,
  '43b': 'the planner’s: versions are doubted of a node that has refused something',
  '44': session,
  '44b': session,
  '45': session,
  '46': session,
  '47': session,
  '48': session,
  '49': server,
  '50': server,
}

const files = [
  'streams',
  'requests',
  'classes',
  'answers',
  'responses',
  'subscriptions',
  'wildcards',
  'clients',
  'reconnect',
].map((part) => new URL(`./xds-statements-${part}.test.ts`, import.meta.url))

/** The numbers at the start of the titles of all tests in these files. */
const titled = new Set(
  files.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(/\btest(?:\.each\([^()]*\))?\(\s*['"`](\d+b?)\. /g),
    ].map(([, number]) => number),
  ),
)

test('every statement from 1 to 50 is in the list, with its variants', () => {
  const numbers = Array.from({ length: 50 }, (_, index) => `${index + 1}`)
  const expected = [...numbers, '7b', '18b', '41b', '43b', '44b']
  expect(Object.keys(statements).sort()).toEqual(expected.sort())
})

test.each(Object.entries(statements).filter(([, where]) => where === session))(
  'statement %s has a named test',
  (number) => {
    expect(titled).toContain(number)
  },
)

test('no named test is of a statement that the list puts elsewhere', () => {
  const elsewhere = Object.keys(statements).filter((number) => statements[number] !== session)
  expect(elsewhere.filter((number) => titled.has(number))).toEqual([])
})
