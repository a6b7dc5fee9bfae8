import { afterEach, describe, expect, test } from 'vitest'
import * as E from 'fp-ts/lib/Either.js'
import { readYamlText } from '../../src/adapters/files/index.js'
import { parseArguments } from '../../src/host/cli/arguments.js'
import { parseConfig } from '../../src/host/cli/serve/config-file.js'
import { serveCommand } from '../../src/host/cli/serve/index.js'
import { mergeArguments } from '../../src/host/cli/serve/merge.js'
import { fileOptions, parseServe, type ServeOptions } from '../../src/host/cli/serve/options.js'
import { maxNamespaces as followedNamespaces } from '../../src/adapters/k8s/informers/namespaces.js'
import { maxNamespaces } from '../../src/host/cli/serve/source-options.js'
import { filesIn, runCli } from '../support/cli.js'

const cleanups: Array<() => void> = []
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()))

const right = <A>(either: E.Either<unknown, A>): A => {
  if (E.isLeft(either)) throw new Error(String(either.left))
  return either.right
}

/** What a command line means, with the text of a file of `--config`. */
const understood = (argv: ReadonlyArray<string>, text?: string): E.Either<string, ServeOptions> => {
  const args = right(parseArguments(serveCommand, argv))
  if (text === undefined) return parseServe(args)
  const file = parseConfig({ path: 'serve.yaml', text }, fileOptions, { readYamlText })
  return E.Monad.chain(file, (given) => parseServe(mergeArguments(args, given)))
}

const addressesOf = ({ context }: ServeOptions) =>
  [...context.dataPlanes.values()].map(({ addresses }) => addresses)

const namespaces = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => ['--namespace', `n${i}`]).flat()

describe('into how many tables routes may be put', () => {
  const shardsOf = (...argv: ReadonlyArray<string>) =>
    E.Monad.map(understood(['--routes', 'd', ...argv]), ({ context }) =>
      [...context.dataPlanes.values()].map(({ shards }) => shards),
    )

  test('256 if nothing is said, none for 0, and 4096 at most', () => {
    expect([shardsOf(), shardsOf('--shards', '0'), shardsOf('--shards', '4096')]).toEqual(
      [256, 0, 4096].map((shards) => E.right([shards])),
    )
    for (const text of ['4097', '-1', '1.5', 'many', '99999999999'])
      expect(shardsOf(`--shards=${text}`)).toMatchObject({ _tag: 'Left' })
    expect(shardsOf('--shards', '4097')).toEqual(
      E.left('--shards 4097: should be a whole number from 0 to 4096'),
    )
  })
})

describe('where routes come from', () => {
  test('as many namespaces may be named as the adapter follows', () => {
    expect(maxNamespaces).toBe(followedNamespaces)
    const argv = ['--kubernetes', ...namespaces(maxNamespaces)]
    expect(right(understood(argv)).source).toMatchObject({ _tag: 'Kubernetes' })
  })

  test('a directory', () => {
    const { source } = right(understood(['--routes', 'dir']))
    expect(source).toEqual({ _tag: 'Files', directory: 'dir' })
  })

  test('a cluster, all of it unless namespaces are named', () => {
    const cluster = { kubeconfig: undefined, context: undefined, ownNamespace: undefined }
    const ofKubernetes = { _tag: 'Kubernetes', cluster, namespaces: undefined }
    expect(right(understood(['--kubernetes'])).source).toEqual(ofKubernetes)
    const argv = ['--kubernetes', '--namespace', 'a', '--namespace', 'b', '--namespace', 'a']
    expect(right(understood(argv)).source).toEqual({ ...ofKubernetes, namespaces: ['a', 'b'] })
  })

  test('a kubeconfig or a context asks for the cluster by itself', () => {
    for (const argv of [
      ['--kubeconfig', 'f'],
      ['--context', 'c'],
    ])
      expect(right(understood(argv)).source._tag).toBe('Kubernetes')
  })

  test.each([
    [[], '--routes DIR is missing, or --kubernetes'],
    [['--namespace', 'a'], '--namespace goes with --kubernetes'],
    [['--own-namespace', 'a'], '--own-namespace goes with --kubernetes'],
    [['--routes', 'd', '--kubernetes'], '--kubernetes goes with a cluster, and --routes'],
    [['--routes', 'd', '--kubeconfig', 'f'], '--kubeconfig goes with a cluster, and --routes'],
    [['--routes', 'd', '--namespace', 'a'], '--namespace goes with a cluster, and --routes'],
    [['--kubernetes', '--namespace', 'A_b'], '--namespace must'],
    [['--kubernetes', '--namespace', 'a', '--namespace', 'b/c'], '--namespace must'],
    [['--kubernetes', '--own-namespace', 'Not Valid'], '--own-namespace must'],
    [['--kubernetes', '--roster', 'f'], '--roster goes with a directory of routes'],
    [['--kubeconfig', 'k', '--roster', 'f'], 'is kept in the cluster'],
    [
      ['--kubernetes', ...namespaces(maxNamespaces + 1)],
      `--namespace names ${maxNamespaces + 1} namespaces, and may name ${maxNamespaces}:`,
    ],
  ])('%j is wrong, and it is said what would be right', (argv, message) => {
    const parsed = understood(argv)
    expect(E.isLeft(parsed) && parsed.left).toContain(message)
  })
})

describe('addresses that backends may have', () => {
  test('are all with files, and none in a cluster, where nothing is said', () => {
    expect(addressesOf(right(understood(['--routes', 'd'])))).toEqual([undefined])
    expect(addressesOf(right(understood(['--kubernetes'])))).toEqual([{ cidrs: [], suffixes: [] }])
  })

  test('are those that are named, with files too', () => {
    const allowed = ['--allow-address', '10.1.0.0/16', '--allow-address', '.example.com']
    const policy = [{ cidrs: ['10.1.0.0/16'], suffixes: ['.example.com'] }]
    for (const from of [['--kubernetes'], ['--routes', 'd']])
      expect(addressesOf(right(understood([...from, ...allowed])))).toEqual(policy)
  })

  test('one that can never be allowed is refused, and named', () => {
    const parsed = understood(['--kubernetes', '--allow-address', '127.0.0.0/8'])
    expect(E.isLeft(parsed) && parsed.left).toMatch(/^--allow-address 127\.0\.0\.0\/8: can never/)
  })
})

describe('a file of options', () => {
  test('says all that the command line can, in the same words', () => {
    const text = `kubeconfig: k
context: c
kubernetes: true
namespace: [shop, pay]
ownNamespace: edge
xds: 0.0.0.0:1800
admin: 'off'
listener: ['0.0.0.0:80', 'inside=[::1]:8080']
allowAddress: [10.0.0.0/8]
dataPlane: blue
shards: 64
forgetNodeAfter: 72h
logLevel: debug
logFormat: json
`
    const argv = [
      ...['--kubernetes', '--kubeconfig', 'k', '--context', 'c', '--own-namespace', 'edge'],
      ...['--namespace', 'shop', '--namespace', 'pay', '--xds', '0.0.0.0:1800', '--admin', 'off'],
      ...['--listener', '0.0.0.0:80', '--listener', 'inside=[::1]:8080', '--data-plane', 'blue'],
      ...['--allow-address', '10.0.0.0/8', '--shards', '64'],
      ...['--forget-node-after', '72h', '--log-level', 'debug', '--log-format', 'json'],
    ]
    expect(understood([], text)).toEqual(understood(argv))
    expect(E.isRight(understood(argv))).toBe(true)
    const ofFiles = understood([], 'routes: d\nroster: nodes.json\n')
    expect(ofFiles).toEqual(understood(['--routes', 'd', '--roster', 'nodes.json']))
    expect(right(ofFiles).source).toMatchObject({ roster: 'nodes.json' })
  })

  test('has a field for each option, but for the one that names it', () => {
    const fields = fileOptions.map(({ name }) => name)
    const options = serveCommand.options.map(({ name }) => name)
    expect(options.filter((name) => !fields.includes(name))).toEqual(['config'])
  })

  test('an empty one, and a flag that is off, say nothing', () => {
    const argv = ['--routes', 'd']
    expect(understood(argv, '# nothing\n')).toEqual(understood(argv))
    expect(understood(argv, 'kubernetes: false\nnamespace: []\n')).toEqual(understood(argv))
  })

  test('is overruled by the command line, option by option, and a list as a whole', () => {
    const text = "routes: d\nxds: '1.1.1.1:1'\nlistener: ['0.0.0.0:1', 'b=0.0.0.0:2']\n"
    const options = right(understood(['--listener', 'c=0.0.0.0:3'], text))
    expect(options.xds).toEqual({ host: '1.1.1.1', port: 1 })
    expect([...options.context.dataPlanes.values()]).toEqual([
      { listeners: [{ name: 'c', address: '0.0.0.0', port: 3 }], shards: 256 },
    ])
  })

  test('is not asked for the other source of routes where the command line has one', () => {
    const cluster = 'kubernetes: true\nkubeconfig: k\nnamespace: [a]\nownNamespace: b\n'
    const { source } = right(understood(['--routes', 'd'], cluster))
    expect(source).toEqual({ _tag: 'Files', directory: 'd', roster: undefined })
    const back = right(understood(['--kubernetes'], 'routes: d\nnamespace: [a]\n'))
    expect(back.source).toMatchObject({ _tag: 'Kubernetes', namespaces: ['a'] })
  })

  test.each([
    ['xsd: a:1', 'serve.yaml: xsd: is no option: did you mean xds? (line 1)'],
    ['own-namespace: a', 'own-namespace: is no option: did you mean ownNamespace? (line 1)'],
    ['config: other.yaml', 'config: is no option: there are routes, kubernetes,'],
    ['help: true', 'help: is no option'],
    ['routes: 5', 'routes: must be a string: write "5" in quotes (line 1)'],
    ['routes: true', 'routes: must be a string: write "true" in quotes'],
    ['routes: [d]', 'routes: must be one DIR, a string, not a list'],
    ['routes: { a: b }', 'routes: must be one DIR, a string, not an object'],
    ['routes:', 'routes: must be one DIR, a string, not null'],
    ['xds: 5', 'xds: must be HOST:PORT, a string, not 5 (line 1)'],
    ['forgetNodeAfter: 72', 'forgetNodeAfter: must be one DURATION, a string, not 72 (line 1)'],
    ['dataPlane: 5', 'dataPlane: must be a string: write "5" in quotes (line 1)'],
    ["routes: ''", 'routes: must not be empty: DIR, or leave it out'],
    ['kubernetes: yes', 'kubernetes: must be true or false, not "yes"'],
    ['kubernetes: 1', 'kubernetes: must be true or false, not 1'],
    ['listener: 0.0.0.0:80', 'listener: must be a list, not "0.0.0.0:80"'],
    ['a: 1\nlistener: [80]', 'listener[0]: must be [NAME=]HOST:PORT, a string, not 80 (line 2)'],
    ["listener: [x, '']", 'listener[1]: must not be empty'],
    ['- routes', 'must be an object with options, not a list'],
    ['routes', 'must be an object with options, not "routes"'],
    ['routes: a\nroutes: b', 'routes: is there twice'],
    ['routes: [', 'is not valid YAML'],
    ['routes: a\n---\nroutes: b', 'has more than one document'],
  ])('%j is refused with its place, and with what would be right', (text, message) => {
    const parsed = understood([], text)
    expect(E.isLeft(parsed) && parsed.left).toContain(message)
    expect(E.isLeft(parsed) && parsed.left).toMatch(/^serve\.yaml: /)
  })

  test.each([
    ['routes: d\nxds: nowhere', 'serve.yaml: xds (line 2): nowhere: should be HOST:PORT'],
    ['routes: d\nshards: 4097', 'serve.yaml: shards (line 2): 4097: should be a whole number'],
    ['routes: d\nadmin: on', 'serve.yaml: admin (line 2): on: should be HOST:PORT'],
    ['routes: d\nlogLevel: loud', 'serve.yaml: logLevel (line 2): loud: should be one of'],
    ['routes: d\nforgetNodeAfter: 3d', 'serve.yaml: forgetNodeAfter (line 2): 3d: '],
    ['routes: d\ndataPlane: Blue!', 'serve.yaml: dataPlane (line 2): must'],
    [
      "routes: d\nlistener:\n- '0.0.0.0:80'\n- 'localhost:81'",
      "serve.yaml: listener[1] (line 4): localhost:81: a listener's address",
    ],
    [
      'kubernetes: true\nallowAddress: [10.0.0.0/8, 10.0.0.0/99]',
      'serve.yaml: allowAddress[1] (line 2): 10.0.0.0/99: ',
    ],
    ['kubernetes: true\nnamespace: [a, B]', 'serve.yaml: namespace[1] (line 2): must'],
    ['kubernetes: true\nroster: f', 'serve.yaml: roster (line 2): goes with a directory of routes'],
    ['kubernetes: true\nownNamespace: B', 'serve.yaml: ownNamespace (line 2): must'],
    ['routes: d\nkubernetes: true', 'serve.yaml: kubernetes (line 2): goes with a cluster'],
  ])('a value in %j that is wrong is named with its place', (text, message) => {
    const parsed = understood([], text)
    expect(E.isLeft(parsed) && parsed.left).toContain(message)
  })

  test('all that is wrong is told at once', () => {
    const parsed = understood([], 'a: 1\nxds: 2\nlistener: [3]\n')
    expect(E.isLeft(parsed) && parsed.left.split('\n')).toHaveLength(3)
  })

  test('a wrong value of the command line is called as it was given, whatever the file says', () => {
    const parsed = understood(['--xds', 'nowhere'], 'routes: d\nxds: 1.1.1.1:1\n')
    expect(E.isLeft(parsed) && parsed.left).toMatch(/^--xds nowhere: /)
  })

  test('one that is wrong is wrong usage, and one that is not there is said', async () => {
    const { directory, dispose } = filesIn({ 'serve.yaml': 'routs: d\nxds: 5\n' })
    cleanups.push(dispose)
    const path = `${directory}/serve.yaml`
    expect(await runCli(['serve', '--config', path])).toEqual({
      code: 2,
      out: '',
      err: [
        `edgewright serve: ${path}: routs: is no option: did you mean routes? (line 1)`,
        `edgewright serve: ${path}: xds: must be HOST:PORT, a string, not 5 (line 2)`,
        '',
      ].join('\n'),
    })
    const { code, err } = await runCli(['serve', '--config', `${directory}/other.yaml`])
    expect(code).toBe(2)
    expect(err).toContain(
      `the file of --config cannot be read: ${directory}/other.yaml: there is no`,
    )
    expect(err).not.toContain('ENOENT')
  })

  test.each(['', '# routes: d\n', 'kubernetes: false\n'])(
    'one that says nothing (%j) is named where something is missing, and nowhere else',
    async (text) => {
      const { directory, dispose } = filesIn({
        'serve.yaml': text,
        'full.yaml': 'xds: 1.1.1.1:1\n',
      })
      cleanups.push(dispose)
      const said = (file: string) => runCli(['serve', '--config', `${directory}/${file}`])
      const words = 'there is no option in this file'
      const { code, err } = await said('serve.yaml')
      expect(code).toBe(2)
      expect(err).toContain('--routes DIR is missing')
      expect(err).toContain(`${directory}/serve.yaml: ${words}`)
      expect((await said('full.yaml')).err).not.toContain(words)
    },
  )
})
