import { maxMatches, maxMethods, maxPredicates } from '../codec/limits.js'
import { list, object, present, rule, type Schema, withRules } from './schema.js'
import { headerMatch, matchedHeader, method, path, queryMatch, queryName, regex } from './values.js'

const pathMatch = withRules(
  object('Which paths; every path if absent. Exactly one of prefix, exact and regex.', {
    prefix: path('Matches on path elements: `/a` matches `/a` and `/a/b`, not `/ab`.'),
    exact: path('Matches the whole path.'),
    regex: regex('RE2 syntax; must match the whole path, without the query.'),
  }),
  rule(
    present('exists_one', ['prefix', 'exact', 'regex']),
    'must have exactly one of prefix, exact and regex',
  ),
)

const predicate = (
  description: string,
  name: Schema,
  value: (description: string) => Schema,
): Schema =>
  withRules(
    object(
      description,
      {
        name,
        exact: value('Matches the whole value.'),
        prefix: value('Matches the beginning of the value.'),
        regex: regex('RE2 syntax; must match the whole value.'),
        present: { description: 'Matches any value.', type: 'boolean', enum: [true] },
      },
      ['name'],
    ),
    rule(
      present('exists_one', ['exact', 'prefix', 'regex', 'present']),
      'must have exactly one of exact, prefix, regex and present',
    ),
  )

/** `name` is an expression for the name of `item`. */
export const distinctNames = (name: (item: string) => string): string =>
  `self.all(a, self.exists_one(b, ${name('b')}.lowerAscii() == ${name('a')}.lowerAscii()))`

const headers = withRules(
  list(
    'Conditions on the headers of a request: all of them must hold.',
    predicate(
      'A condition on one header. Exactly one of exact, prefix, regex and present.',
      matchedHeader,
      headerMatch,
    ),
    0,
    maxPredicates,
    { key: 'name' },
  ),
  rule(
    distinctNames((item) => `${item}.name`),
    'must not name a header twice, in whatever case',
  ),
)

const query = list(
  'Conditions on the query parameters of a request: all of them must hold.',
  predicate(
    'A condition on one query parameter. Exactly one of exact, prefix, regex and present.',
    queryName,
    queryMatch,
  ),
  0,
  maxPredicates,
  { key: 'name' },
)

const match = object('Which requests: all of what it names must hold.', {
  path: pathMatch,
  methods: list('Any of these methods; every method if absent.', method, 1, maxMethods, 'set'),
  headers,
  query,
})

/** The matches of a route. */
export const matchesSchema: Schema = {
  ...list(
    'Which requests the route claims: those that any of these matches. Every path if absent.',
    match,
    1,
    maxMatches,
    'atomic',
  ),
  default: [{ path: { prefix: '/' } }],
}
