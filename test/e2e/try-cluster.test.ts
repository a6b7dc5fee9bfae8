import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../support/envoy.js'
import { startTestProgram } from './support/program.js'

const cleanups: Array<() => unknown> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

/** Runs `npm run cluster` as npm does. */
const startTrial = () => {
  const child = spawn('bash', ['-c', `exec ${scripts['cluster'] ?? ''}`], { stdio: 'pipe' })
  cleanups.push(() => child.kill('SIGTERM'))
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { out: () => out, ended, interrupt: () => child.kill('SIGINT') }
}

const printed = /^ {2}export KUBECONFIG='(.*)'$/m

test('npm run cluster gives the README a cluster, and leaves nothing behind', async () => {
  expect(readFileSync('README.md', 'utf8')).toContain('`npm run cluster`')
  const trial = startTrial()
  const said = await eventually(trial.out, (text) => text.includes('Ctrl-C'), 120_000)
  const kubeconfig = printed.exec(said)?.[1] ?? ''
  const kubectl = async (...args: ReadonlyArray<string>): Promise<string> => {
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    return (await promisify(execFile)('kubectl', args, { env })).stdout
  }
  await kubectl('apply', '-k', 'deploy')
  await kubectl('wait', '--for=condition=Established', 'crd/edgeroutes.net.10xdev.io')
  await kubectl('create', 'namespace', 'examples')
  await kubectl('apply', '-f', 'examples/routes')
  const program = await startTestProgram({ args: ['--kubernetes'], kubeconfig })
  await eventually(
    () => kubectl('--namespace=examples', 'get', 'edgeroutes', 'docs'),
    (text) => /^docs .* True /m.test(text),
    30_000,
  )
  await program.stop()
  trial.interrupt()
  expect(await trial.ended).toBe(0)
  expect(existsSync(dirname(kubeconfig))).toBe(false)
  await expect(kubectl('get', 'namespaces')).rejects.toThrow()
})
