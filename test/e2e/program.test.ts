import { onTestFinished, expect, test } from 'vitest'
import { filesIn, routeYaml } from '../support/cli.js'
import { eventually, freePort, startTestEnvoy } from '../support/envoy.js'
import { answers } from '../support/traffic.js'
import { complaintIn, startProgram, startTestProgram } from './support/program.js'

const routes = (): string => {
  const spec = '{ matches: [{ path: { prefix: / } }], respond: { code: 200, body: served } }'
  const { directory, dispose } = filesIn({ 'all.yaml': routeYaml('all', spec) })
  onTestFinished(dispose)
  return directory
}

test('a program that is killed comes back at the same address, and its Envoy serves throughout', async () => {
  const port = await freePort()
  const args = ['--routes', routes(), '--listener', `127.0.0.1:${port}`]
  const program = await startTestProgram({ args })
  const envoy = await startTestEnvoy({ xds: program.xds, variant: 'delta' })
  onTestFinished(envoy.stop)
  await answers(port, '/', '200 served')
  expect((await program.usage()).rssBytes).toBeGreaterThan(20e6)

  await program.kill()
  await answers(port, '/', '200 served')
  await program.start()
  await eventually(
    () => envoy.stat('control_plane.connected_state'),
    (connected) => connected === 1,
    30_000,
  )
  expect(program.log().match(/listening for Envoys/g)).toHaveLength(2)
  expect(await program.stop()).toBe(0)
})

/** Has Node run this in the program, on a signal. */
const planted = (code: string): ReadonlyArray<string> => [
  '--import',
  `data:text/javascript,process.on('SIGUSR2', () => { ${code} })`,
]

test.each([
  ['drops a promise that rejects', 'Promise.reject(new Error("planted"))', /planted/],
  ['rejects with what is no error', 'Promise.reject("planted")', /planted/],
  ['throws', 'throw new Error("planted")', /planted/],
  ['ends by itself', 'process.exit(0)', /ended by itself/],
])('a program that %s is not well', async (_, code, said) => {
  const program = await startProgram({ args: ['--routes', routes()], nodeOptions: planted(code) })
  program.signal('SIGUSR2')
  await eventually(
    () => program.usage().catch(() => 'over'),
    (usage) => usage === 'over',
  )
  await expect(program.end()).rejects.toThrow(said)
})

test('a warning of Node is a complaint, and a log line that speaks of one is none', () => {
  const warning =
    '(node:12) MaxListenersExceededWarning: Possible EventEmitter memory leak detected.'
  expect(complaintIn(`fine\n${warning}\n`)).toContain(warning)
  expect(complaintIn('level=warn msg="unknown field, Warning: ignored"')).toBeUndefined()
})
