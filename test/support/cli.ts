import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '../../src/host/cli/package.js'
import { edgewright } from '../../src/host/cli/edgewright.js'

/** The program as it was built. */
export const builtMain: string = fileURLToPath(
  new URL('../../dist/host/cli/main.js', import.meta.url),
)

export interface Finished {
  readonly code: number | undefined
  readonly out: string
  readonly err: string
}

/** Runs the command line inside this process, from the sources. */
export const runCli = async (argv: ReadonlyArray<string>): Promise<Finished> => {
  let out = ''
  let err = ''
  const code = await edgewright(argv, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    color: false,
    env: {},
    signal: new AbortController().signal,
  })
  return { code, out, err }
}

/** The built program as a process of its own. */
export interface CliProcess {
  readonly child: ChildProcess
  /** Resolves when it has ended. */
  readonly finished: Promise<Finished>
  /** What it has written so far. */
  readonly out: () => string
  readonly err: () => string
  /** Kills it, if it still runs. */
  readonly dispose: () => Promise<void>
}

export interface SpawnOptions {
  /** Beside the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly nodeOptions?: ReadonlyArray<string>
  /** In place of `builtMain`. */
  readonly main?: string
}

export const spawnCli = (argv: ReadonlyArray<string>, options: SpawnOptions = {}): CliProcess => {
  const args = [...(options.nodeOptions ?? []), options.main ?? builtMain, ...argv]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => void (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (err += chunk))
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? undefined, out, err }))
  })
  const dispose = async (): Promise<void> => {
    child.kill('SIGKILL')
    await finished
  }
  return { child, finished, out: () => out, err: () => err, dispose }
}

/**
 * Puts the built package into a folder as if it were installed there beside these packages alone,
 * and says how to run it.
 */
export const installWith = (root: string, packages: ReadonlyArray<string>): SpawnOptions => {
  for (const name of ['dist', 'package.json'])
    symlinkSync(join(packageRoot, name), join(root, name))
  mkdirSync(join(root, 'node_modules'))
  for (const name of packages)
    symlinkSync(join(packageRoot, 'node_modules', name), join(root, 'node_modules', name))
  return {
    main: join(root, 'dist/host/cli/main.js'),
    nodeOptions: ['--preserve-symlinks', '--preserve-symlinks-main'],
  }
}

/** A folder with these files; remove it with `dispose`. */
export const filesIn = (
  files: Readonly<Record<string, string>>,
): { readonly directory: string; readonly dispose: () => void } => {
  const directory = mkdtempSync(join(tmpdir(), 'edgewright-test-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return { directory, dispose: () => rmSync(directory, { recursive: true, force: true }) }
}

/** An EdgeRoute in YAML; `spec` is in YAML's flow form, as in `{ respond: { code: 200 } }`. */
export const routeYaml = (name: string, spec: string): string => `apiVersion: net.10xdev.io/v1
kind: EdgeRoute
metadata: { namespace: test, name: ${name} }
spec: ${spec}
`
