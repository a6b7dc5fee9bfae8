import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The folder of edgewright's package.json: three above this file, in the sources and when built.
 */
export const packageRoot: string = fileURLToPath(new URL('../../..', import.meta.url))

interface PackageJson {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Edgewright's own package.json. */
export const packageJson = (): PackageJson =>
  JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as PackageJson
