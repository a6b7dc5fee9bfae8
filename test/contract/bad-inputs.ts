import { execFileSync } from 'node:child_process'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { type RouteDirectory, routeYaml } from './route-directory.js'

/** Something that a file of routes must not be. */
export interface BadInput {
  readonly title: string
  /** Puts it in the place of a file that held the routes `name` and `beside-name`. */
  readonly put: (directory: RouteDirectory, file: string, name: string) => Promise<void>
  /** True where the other document of the file is read all the same. */
  readonly sparesOthers: boolean
  /** The field that the error must name; empty for the file or the document as a whole. */
  readonly field: string
  readonly message: RegExp
  /** False where no earlier form stands in for it. */
  readonly keepsLastGood?: false
}

export const besideName = (name: string): string => `beside-${name}`

/** The other document of a file, before and after the first went bad. */
export const besideCodes = { before: 200, after: 204 } as const

const something = /./

/** A text that is no YAML, or a file that is no text: nothing of it counts. */
const file = (title: string, message: RegExp, content: string | Uint8Array): BadInput => ({
  title,
  put: (directory, path) => directory.write(path, content),
  sparesOthers: false,
  field: '',
  message,
})

/** A file ends behind `end`, as when a disk is full. */
const cut = (title: string, field: string, message: RegExp, end: string): BadInput => ({
  title,
  put: (directory, path, name) => {
    const text = routeYaml(name)
    return directory.write(path, text.slice(0, text.indexOf(end) + end.length))
  },
  sparesOthers: false,
  field,
  message,
})

/** In the place of a file stands something else. */
const place = (title: string, message: RegExp, make: (path: string) => unknown): BadInput => ({
  title,
  put: async (directory, path) => {
    await directory.remove(path)
    await make(directory.at(path))
  },
  sparesOthers: false,
  field: '',
  message,
})

/** One document is wrong; `$` in it stands for the name that was there. */
const document = (title: string, field: string, text: string, message = something): BadInput => ({
  title,
  put: (directory, path, name) =>
    directory.write(
      path,
      `${text.replaceAll('$', name)}\n---\n${routeYaml(besideName(name), besideCodes.after)}`,
    ),
  sparesOthers: true,
  field,
  message,
})

/** A document too many, of a name that is taken. */
const duplicate = (title: string, of: string, message: RegExp): BadInput => ({
  title,
  put: (directory, path, name) => {
    const extra = routeYaml(of.replace('$', name), 500)
    const beside = routeYaml(besideName(name), besideCodes.after)
    return directory.write(path, [routeYaml(name), extra, beside].join('---\n'))
  },
  sparesOthers: true,
  field: 'metadata.name',
  message,
  keepsLastGood: false,
})

const head =
  'apiVersion: net.10xdev.io/v1\nkind: EdgeRoute\nmetadata: { namespace: shop, name: $ }\n'
const spec = (title: string, field: string, text: string, message = something): BadInput =>
  document(title, field, `${head}spec:\n${text.replaceAll(/^/gm, '  ')}`, message)
const match = (title: string, field: string, text: string): BadInput =>
  spec(title, field, `matches:\n  - ${text}\nrespond: { code: 200 }`)
const backends = (title: string, field: string, text: string): BadInput =>
  spec(title, field, `backends: ${text}`)

const deep = `a: ${'['.repeat(20_000)}`
const bomb = Array.from({ length: 20 }, (_, i) =>
  i === 0 ? 'a0: &a0 [x]' : `a${String(i)}: &a${String(i)} [${`*a${String(i - 1)}, `.repeat(9)}]`,
).join('\n')

export const badInputs: ReadonlyArray<BadInput> = [
  file('a tab as indentation', /^line 2, column \d+: .*tabs/i, 'spec:\n\tmatches: []\n'),
  file('an unclosed double quote', /^line \d+, .*quote/, 'spec:\n  dataPlane: "edge\n'),
  file('an unclosed single quote', /^line \d+, .*quote/, "spec:\n  dataPlane: 'edge\n"),
  file('an unclosed list', /^line \d+, /, 'spec:\n  hostnames: [a.test,\n'),
  file('an unclosed object', /^line \d+, /, 'spec: { respond: { code: 200 }\n'),
  cut('a file cut within brackets', '', /^line \d+, /, 'prefix:'),
  cut('a file cut between lines', 'spec', something, 'spec:\n'),
  file('a colon too many', /^line 2, /, 'spec:\n  dataPlane: edge: envoy\n'),
  file(
    'an indentation that fits nothing',
    /^line 3, /,
    'spec:\n    dataPlane: a\n  hostnames: []\n',
  ),
  file('a reserved character', /^line 1, /, 'spec: @edge\n'),
  file('a back quote', /^line 1, /, 'spec: `edge`\n'),
  file('an unknown escape', /^line 1, /, 'spec: "\\q"\n'),
  file('a bracket out of nowhere', /^line 2, /, 'spec: {}\n]\n'),
  file(
    'a merge conflict',
    /^line \d+, /,
    `<<<<<<< HEAD\n${routeYaml('a')}=======\n${routeYaml('b')}`,
  ),
  file('brackets without an end', /nested too deeply/, deep),
  file('bytes that are no UTF-8', /UTF-8/, Uint8Array.of(0x61, 0x3a, 0x20, 0xc3, 0x28)),
  file('UTF-16', /UTF-8/, Buffer.from(`\ufeff${routeYaml('wide')}`, 'utf16le')),
  file('a megabyte and one byte', /too large: 1\.0 MiB/, `#${' '.repeat(1024 * 1024)}`),
  file(
    '10 MB',
    /too large: 10\.0 MiB/,
    '# ten bytes\n'.repeat(10 * 1024 * 1024).slice(0, 10 << 20),
  ),
  file('nothing at all', /^is empty/, ''),
  file('ten thousand documents and one', /more than 10000 documents/, '---\n'.repeat(10_001)),
  file('a document of a megabyte', /more than 64 KiB/, `a: ${'x'.repeat(1024 * 1024 - 3)}`),
  place('10 GB of nothing', /too large: 10240\.0 MiB/, async (path) => {
    await writeFile(path, '')
    await truncate(path, 10 * 1024 ** 3)
  }),
  place('a directory', /directory/, (path) => mkdir(path)),
  place('a named pipe', /not a regular file/, (path) => {
    execFileSync('mkfifo', [path])
  }),
  place('a device', /not a regular file/, (path) => symlink('/dev/zero', path)),
  place('a link to nowhere', /no such file/, (path) => symlink('nowhere.txt', path)),
  place('a link to itself', /circle/, (path) => symlink(path, path)),
  document('zeros', '', '\0\0\0\0\0\0', /string/),
  document('a list', '', '- a\n- b', /a list/),
  document('a text', '', 'hello', /a string/),
  document('a number', '', '42', /a number/),
  document(
    'an object of another kind',
    'kind',
    head.replace('EdgeRoute', 'Deployment'),
    /this one is "Deployment"/,
  ),
  document(
    'a List of objects',
    'kind',
    'apiVersion: v1\nkind: List\nitems: []',
    /this one is "List"/,
  ),
  document('a kind that is no text', 'kind', head.replace('EdgeRoute', '7')),
  document('no kind', 'kind', head.replace('kind: EdgeRoute', '')),
  document('no apiVersion', 'apiVersion', head.replace(/.*\n/, '')),
  document('another apiVersion', 'apiVersion', head.replace('/v1', '/v2')),
  document(
    'no metadata',
    'metadata',
    `${head.replace(/metadata.*/, '')}spec: { respond: { code: 200 } }`,
  ),
  document('metadata that are a list', 'metadata', head.replace(/\{ namespace.*\}/, '[]')),
  document('no name', 'metadata.name', head.replace(', name: $', '')),
  document('a name in capitals', 'metadata.name', head.replace('$', 'Shop')),
  document('a name that is a number', 'metadata.name', head.replace('$', '7')),
  document('a namespace with a slash', 'metadata.namespace', head.replace('shop', 'a/b')),
  document('an unknown field of the metadata', 'metadata.nmae', head.replace('}', ', nmae: a }')),
  duplicate('a name of another file', 'good', /shop\/good is in good\.yaml#1/),
  duplicate('a name twice in one file', '$', /is in r\d+\.yaml#1/),
  document('no spec', 'spec', head),
  document('a spec that is empty', 'spec', `${head}spec:`),
  document('a spec that is a list', 'spec', `${head}spec: []`),
  document(
    'an unknown field beside the spec',
    'specs',
    `${head}spec: { respond: { code: 200 } }\nspecs: 1`,
  ),
  spec(
    'an unknown field',
    'spec.hostname',
    'hostname: [a.test]\nrespond: { code: 200 }',
    /hostnames/,
  ),
  spec('a field twice', 'spec.respond', 'respond: { code: 200 }\nrespond: { code: 404 }', /line 6/),
  spec('a merge key', 'spec["<<"]', '<<: { hostnames: [a.test] }\nrespond: { code: 200 }'),
  spec(
    'an object that contains itself',
    'spec.respond.body',
    'respond: &r { code: 200, body: *r }',
  ),
  spec('an alias of nothing', '', 'respond: *nothing', /alias/),
  spec('a bomb of aliases', '', bomb, /expand to too much/),
  spec('an unknown tag', '', 'respond: { code: 200, body: !secret x }', /line 5.*tag/),
  spec('a binary', '', 'respond: { code: 200, body: !!binary aGk= }', /line 5.*tag/),
  document('a version of YAML to come', '', `%YAML 3.0\n---\n${head}`, /version 3\.0/),
  spec('a prototype', 'spec.__proto__', '__proto__: { a: 1 }\nrespond: { code: 200 }'),
  match('a prefix without a slash', 'spec.matches[0].path.prefix', 'path: { prefix: a }'),
  match('two kinds of path', 'spec.matches[0].path', 'path: { prefix: /a, exact: /a }'),
  match('a path that is a text', 'spec.matches[0].path', 'path: /a'),
  match('a regex that is not closed', 'spec.matches[0].path.regex', 'path: { regex: "/(a" }'),
  match('a regex that is not RE2', 'spec.matches[0].path.regex', 'path: { regex: "/(?=a)b" }'),
  match('an unknown field of a match', 'spec.matches[0].method', 'method: GET'),
  match('methods that are a text', 'spec.matches[0].methods', 'methods: GET'),
  match(
    'a header name with a space',
    'spec.matches[0].headers[0].name',
    'headers: [{ name: "x y", exact: a }]',
  ),
  match(
    'a yes of YAML 1.1',
    'spec.matches[0].headers[0].present',
    'headers: [{ name: x, present: yes }]',
  ),
  backends('no backends at all', 'spec.backends', '[]'),
  backends('port 0', 'spec.backends[0].address.port', '[{ address: { host: 10.0.0.7, port: 0 } }]'),
  backends(
    'port 70000',
    'spec.backends[0].address.port',
    '[{ address: { host: 10.0.0.7, port: 70000 } }]',
  ),
  backends(
    'a port that is a text',
    'spec.backends[0].address.port',
    '[{ address: { host: 10.0.0.7, port: "80" } }]',
  ),
  backends(
    'an infinite port',
    'spec.backends[0].address.port',
    '[{ address: { host: 10.0.0.7, port: .inf } }]',
  ),
  backends('no port', 'spec.backends[0].address.port', '[{ address: { host: 10.0.0.7 } }]'),
  backends(
    'a negative weight',
    'spec.backends[0].weight',
    '[{ address: { host: a.test, port: 80 }, weight: -1 }]',
  ),
  backends(
    'weights that are all zero',
    'spec.backends',
    '[{ address: { host: a.test, port: 80 }, weight: 0 }]',
  ),
  spec('a backend and a redirect', 'spec', 'redirect: { host: a.test }\nrespond: { code: 200 }'),
  spec('nothing that answers', 'spec', 'hostnames: [a.test]'),
  spec('a code that is none', 'spec.respond.code', 'respond: { code: 99 }'),
  spec('a redirect that is none', 'spec.redirect.code', 'redirect: { host: a.test, code: 200 }'),
  spec(
    'a host that is a URL',
    'spec.hostnames[0]',
    'hostnames: ["http://a.test"]\nrespond: { code: 200 }',
  ),
  spec(
    'a star in the middle',
    'spec.hostnames[0]',
    'hostnames: [a.*.test]\nrespond: { code: 200 }',
  ),
  spec(
    'a duration in parsecs',
    'spec.timeouts.request',
    'timeouts: { request: 5 parsecs }\nbackends: [{ address: { host: a.test, port: 80 } }]',
  ),
]
