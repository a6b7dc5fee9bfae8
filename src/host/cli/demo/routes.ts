import { rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DemoBackend } from './backends.js'
import type { Scope } from './scope.js'

/** A fresh folder that is removed when the scope ends, and also when the process is forced to. */
export const temporaryDirectory = async (scope: Scope, name: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), `edgewright-${name}-`))
  const onExit = (): void => rmSync(directory, { recursive: true, force: true })
  process.on('exit', onExit)
  scope.defer(async () => {
    await rm(directory, { recursive: true, force: true })
    process.off('exit', onExit)
  })
  return directory
}

/** The file of a backend's route. */
export const routeFile = (directory: string, backend: DemoBackend): string =>
  join(directory, `${backend.name}.yaml`)

/** Writes an EdgeRoute that sends the prefix `/NAME` to the backend NAME. */
export const writeRoute = (directory: string, backend: DemoBackend): Promise<void> =>
  writeFile(
    routeFile(directory, backend),
    `apiVersion: net.10xdev.io/v1
kind: EdgeRoute
metadata:
  namespace: demo
  name: ${backend.name}
spec:
  matches:
    - path: { prefix: /${backend.name} }
  backends:
    - address: { host: ${backend.host}, port: ${backend.port} }
`,
  )
