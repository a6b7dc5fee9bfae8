import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/host/cli/package.js'

/** An example as a stranger has it: two folders down in a clone, in which the package was packed. */
export interface Example {
  readonly directory: string
  /** What its README has in blocks of this language. */
  readonly blocks: (language: string) => ReadonlyArray<string>
  /** Runs commands, as they stand in the README, and says how they ended. */
  readonly run: (commands: string) => Promise<Ended>
  /** Starts a command that goes on. */
  readonly start: (command: string, env?: Readonly<Record<string, string>>) => Started
  readonly dispose: () => void
}

export interface Ended {
  readonly code: number
  readonly out: string
}

export interface Started {
  /** What it has written so far. */
  readonly out: () => string
  /** Asks it to end, as Ctrl-C does, and resolves when all that it has started has ended. */
  readonly end: () => Promise<void>
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export const manifestOf = (path: string): Manifest =>
  JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest

/** What npm has had before it need not fetch again, and nothing that is installed runs anything. */
const npmEnvironment = {
  npm_config_prefer_offline: 'true',
  npm_config_ignore_scripts: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  NO_COLOR: '1',
}

const environment = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => {
  const given = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV)/.test(name),
  )
  return { ...Object.fromEntries(given), ...npmEnvironment, ...more }
}

/** How long commands may take, in milliseconds: an installation, on a machine that has much to do. */
const commandMs = 240_000

/** The line of a README that packs the clone; here the tarball is of what was built, which nothing builds again. */
export const packingLine = 'npm pack ../.. --pack-destination ../..'

/** A config as the clone has one, which tests of its own are not to take. */
const poison = "throw new Error('this is the config of the clone')\n"

/** Puts an example into a folder as deep as in a clone, at whose top is the tarball of what was built. */
export const unpackExample = async (name: string): Promise<Example> => {
  const clone = mkdtempSync(join(tmpdir(), `edgewright-${name}-`))
  const directory = join(clone, 'examples', name)
  cpSync(join(packageRoot, 'examples', name), directory, { recursive: true, filter: isOurs })
  writeFileSync(join(clone, 'vitest.config.ts'), poison)
  const pack = ['pack', '--ignore-scripts', '--pack-destination', clone]
  await promisify(execFile)('npm', pack, { cwd: packageRoot })
  const readme = readFileSync(join(directory, 'README.md'), 'utf8')
  return {
    directory,
    blocks: (language) =>
      [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
        ([, text = '']) => text.trim(),
      ),
    run: (commands) => run(commands.replace(`${packingLine}\n`, ''), directory),
    start: (command, env) => start(command, directory, env),
    dispose: () => {
      rmSync(clone, { recursive: true, force: true })
    },
  }
}

/** What an installation in the clone itself has left is not of the example. */
const isOurs = (path: string): boolean => !/\/(node_modules|package-lock\.json)$/.test(path)

const run = (commands: string, cwd: string): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = shell(commands, cwd)
    const out = collect(child)
    const timer = setTimeout(() => {
      killGroup(child, 'SIGKILL')
      reject(new Error(`not done within ${commandMs} ms: ${commands}\n${out()}`))
    }, commandMs)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code: code ?? -1, out: out() })
    })
  })

const start = (command: string, cwd: string, env?: Readonly<Record<string, string>>): Started => {
  const child = shell(command, cwd, env)
  const out = collect(child)
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => resolve())
  })
  return {
    out,
    end: () => {
      killGroup(child, 'SIGINT')
      return closed
    },
  }
}

/** A group of its own, so that what hangs can be ended with all that it has started. */
const shell = (
  commands: string,
  cwd: string,
  env?: Readonly<Record<string, string>>,
): ChildProcess =>
  spawn('bash', ['-e', '-c', commands], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })

const collect = (child: ChildProcess): (() => string) => {
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => void (out += text))
  return () => out
}

const killGroup = ({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, signal)
}
