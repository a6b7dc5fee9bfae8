import { afterEach, describe, expect, test } from 'vitest'
import { packageJson } from '../../src/host/cli/package.js'
import { filesIn, routeYaml, runCli } from '../support/cli.js'

const cleanups: Array<() => void> = []
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()))

const check = (files: Readonly<Record<string, string>>, ...options: ReadonlyArray<string>) => {
  const { directory, dispose } = filesIn(files)
  cleanups.push(dispose)
  return runCli(['check', directory, ...options])
}

const commands = ['serve', 'bootstrap', 'check', 'demo']

describe('the program', () => {
  test('says its version', async () => {
    const said = { code: 0, out: `${packageJson().version}\n`, err: '' }
    expect(await runCli(['--version'])).toEqual(said)
    expect(await runCli(['-v'])).toEqual(said)
  })

  test('names all of its commands in its help', async () => {
    const { code, out } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const command of commands) expect(out).toContain(command)
  })

  test('names in its help what can stand in place of a command', async () => {
    const { out } = await runCli(['--help'])
    expect(out).toMatch(/^ {2}--help, -h {2,}\S/m)
    expect(out).toMatch(/^ {2}--version, -v {2,}\S/m)
  })

  test.each([
    [[], 'a command is missing'],
    [['chek', '.'], 'did you mean check?'],
    [['help', 'serv'], 'did you mean serve?'],
    [['xyzzy'], `the commands are ${commands.join(', ')}`],
    [['serve'], '--routes DIR is missing'],
    [['serve', '--route', '.'], 'did you mean --routes?'],
    [['serve', '--routes', '.', '--xds', '18000'], 'should be HOST:PORT'],
    [['serve', '--routes', '.', '--log-level', 'loud'], 'one of debug, info, warn, error'],
    [['serve', '--routes', '.', '--log-format', 'xml'], 'one of text, json'],
    [['serve', 'routes'], '"routes" is one argument too many; did you mean --routes routes?'],
    [['check', '--routes', 'routes'], 'there is no option --routes; say edgewright check DIR'],
    [['serve', '--routes', 'a', '--routes', 'b'], '--routes is given twice'],
    [['explain', 'a/b', '--admin', 'x'], 'as in 127.0.0.1:18001'],
    [['bootstrap', '--variant', 'both'], 'one of delta, sotw'],
    [['bootstrap', '--max-connections', 'all'], 'a whole number from 1'],
    [['check', '.', '--listener', 'a=[::]:1', '--listener', 'b=[::]:1'], 'b would listen where a'],
    [['bootstrap', '--envoy-admin', 'nowhere'], '--envoy-admin nowhere: should be HOST:PORT'],
    [['bootstrap', '--admin', '127.0.0.1:9901'], '--envoy-admin'],
    [['check'], 'DIR is missing'],
    [['check', '.', '--listener', 'localhost:80'], 'an IP address'],
    [['demo', 'now'], '"now" is one argument too many'],
  ])('%j is wrong usage: exit code 2, and what would be right', async (argv, message) => {
    const { code, out, err } = await runCli(argv)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(err).toContain(message)
    expect(err).toContain('--help')
  })

  test.each(commands)('%s has a help of its own', async (command) => {
    const { code, out } = await runCli([command, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`Usage: edgewright ${command}`)
    expect(await runCli(['help', command])).toEqual({ code, out, err: '' })
    for (const line of out.split('\n').filter((each) => each.startsWith('  ')))
      expect(line).toMatch(/^ {2}\S.*\S {2,}\S/)
  })
})

describe('bootstrap', () => {
  const print = async (...options: ReadonlyArray<string>): Promise<{ node: { id: string } }> => {
    const { code, out } = await runCli(['bootstrap', ...options])
    expect(code).toBe(0)
    return JSON.parse(out) as { node: { id: string } }
  }

  test('every Envoy gets an id of its own, which names its data plane', async () => {
    const ids = await Promise.all([print(), print()])
    const [one, other] = ids.map(({ node }) => node.id)
    expect(one).toMatch(/^edge-envoy-[0-9a-f-]{36}$/)
    expect(other).not.toBe(one)
  })

  test('what is asked for is in it', async () => {
    const options = ['--id', 'a', '--data-plane', 'blue', '--xds', '[::1]:5', '--variant', 'sotw']
    expect(
      await print(...options, '--envoy-admin', 'none', '--max-connections', '7'),
    ).toMatchObject({
      overload_manager: {
        resource_monitors: [{ typed_config: { max_active_downstream_connections: 7 } }],
      },
      node: { id: 'a', cluster: 'blue' },
      dynamic_resources: { ads_config: { api_type: 'GRPC' } },
    })
    expect(await print('--envoy-admin', 'none')).not.toHaveProperty('admin')
    expect(await print()).toMatchObject({
      admin: { address: { socket_address: { address: '127.0.0.1', port_value: 9901 } } },
    })
  })
})

describe('check', () => {
  test('knows the Services that the directory has', async () => {
    const spec = '{ backends: [{ service: { name: shop, port: 80 } }] }'
    const files = (service: string) => ({
      'route.yaml': routeYaml('shop', spec),
      'service.yaml': `apiVersion: v1
kind: Service
metadata: { namespace: test, name: ${service} }
spec: { ports: [{ port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: test, name: a, labels: { kubernetes.io/service-name: ${service} } }
addressType: IPv4
ports: [{ port: 8080 }]
endpoints: [{ addresses: [10.0.0.1] }]
`,
    })
    expect((await check(files('shop'))).out).not.toContain('ServiceNotFound')
    expect((await check(files('other'))).out).toContain('ServiceNotFound')
  })

  test('the examples are right', async () => {
    const { code, out, err } = await runCli(['check', 'examples/routes'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('ok       examples/checkout')
    expect(out).not.toMatch(/^(error|warning)/m)
    expect(out).toContain('6 of 6 routes can be served.')
  })

  test('what cannot be read is named with its file and field, and the rest is still judged', async () => {
    const { code, out } = await check({
      'bad.yaml': routeYaml(
        'bad',
        '{ respond: { code: 200 }, matches: [{ path: { prefix: a } }] }',
      ),
      'broken.yaml': 'a: [',
      'good.yaml': routeYaml('good', '{ respond: { code: 200 } }'),
    })
    expect(code).toBe(1)
    expect(out).toMatch(/^error {4}bad\.yaml.*spec\.matches\[0\]\.path\.prefix/m)
    expect(out).toMatch(/^error {4}broken\.yaml/m)
    expect(out).toMatch(/^ok {7}test\/good/m)
    expect(out).toContain(
      '2 problems in files; of the 1 route that could be read, 1 can be served.',
    )
  })

  test('where nothing could be read, that is the sum', async () => {
    const { code, out } = await check({ 'broken.yaml': 'a: [' })
    expect(code).toBe(1)
    expect(out).toMatch(/\n\n1 problem in files; no route could be read\.\n$/)
  })

  test('a conflict names the winner, and is an error', async () => {
    const { code, out } = await check({
      'a.yaml': routeYaml('a', '{ respond: { code: 200 } }'),
      'b.yaml': routeYaml('b', '{ respond: { code: 201 } }'),
    })
    expect(code).toBe(1)
    expect(out).toMatch(/^ok {7}test\/a/m)
    expect(out).toMatch(/^error {4}test\/b .*test\/a/m)
    expect(out).toContain('1 of 2 routes can be served; 1 route that cannot be served as it is.')
  })

  test('a Service that is not known is a warning only', async () => {
    const { code, out } = await check({
      'a.yaml': routeYaml('a', '{ backends: [{ service: { name: web, port: 80 } }] }'),
    })
    expect(code).toBe(0)
    expect(out).toMatch(/^warning {2}test\/a .*web/m)
    expect(out).toContain(
      '1 of 1 route can be served; 1 of these has a backend that leads nowhere.',
    )
  })

  test('a data plane that is not there is an error, unless it is the one that is asked about', async () => {
    const files = { 'a.yaml': routeYaml('a', '{ dataPlane: blue, respond: { code: 200 } }') }
    expect((await check(files)).code).toBe(1)
    expect((await check(files, '--data-plane', 'blue')).code).toBe(0)
  })

  test.each(['serve', 'check', 'bootstrap'])(
    '%s refuses a data plane that no route could name',
    async (command) => {
      const operand = { serve: ['--routes', '.'], check: ['.'], bootstrap: [] }[command] ?? []
      const { code, err } = await runCli([command, ...operand, '--data-plane', 'Not Valid!'])
      expect(code).toBe(2)
      expect(err).toContain('--data-plane must')
    },
  )

  test('a directory without any route is an error, and so is one that is not there', async () => {
    const empty = await check({})
    expect(empty.code).toBe(1)
    expect(empty.err).toContain('there is no EdgeRoute in')
    const { code, err } = await runCli(['check', '/no/such/directory'])
    expect(code).toBe(1)
    expect(err).toContain('/no/such/directory')
  })
})
