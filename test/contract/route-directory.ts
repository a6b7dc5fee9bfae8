import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of routes. */
export interface RouteDirectory {
  readonly path: string
  readonly at: (name: string) => string
  /** Writes a file in one step, as a careful editor does. */
  readonly write: (name: string, content: string | Uint8Array) => Promise<void>
  readonly remove: (name: string) => Promise<void>
}

/** A directory for one test, which is removed when it ends. */
export const routeDirectory = async (): Promise<RouteDirectory> => {
  const made = await makeRouteDirectory()
  onTestFinished(made.discard)
  return made
}

export const makeRouteDirectory = async (): Promise<
  RouteDirectory & { readonly discard: () => Promise<void> }
> => {
  const base = await mkdtemp(join(tmpdir(), 'edgewright-'))
  const path = join(base, 'routes')
  await mkdir(path)
  const at = (name: string): string => join(path, name)
  return {
    path,
    at,
    write: async (name, content) => {
      await mkdir(dirname(at(name)), { recursive: true })
      await writeFile(join(base, 'next'), content)
      await rename(join(base, 'next'), at(name))
    },
    remove: (name) => rm(at(name), { recursive: true, force: true }),
    discard: () => rm(base, { recursive: true, force: true }),
  }
}

/** The YAML of a route that answers a code itself. */
export const routeYaml = (name: string, code = 200): string => `apiVersion: net.10xdev.io/v1
kind: EdgeRoute
metadata: { namespace: shop, name: ${name} }
spec:
  matches: [{ path: { prefix: /${name} } }]
  respond: { code: ${String(code)} }
`
