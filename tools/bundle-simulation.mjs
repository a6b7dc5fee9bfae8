import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { threadId } from 'node:worker_threads'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Makes one module of the simulation and of the sources under test, and imports it.
 *
 * `patches` are replacements in the sources, `{ file, find, replace }`: each text must be there exactly once.
 */
export const loadSimulation = async (name = 'plain', patches = []) => {
  const found = new Set()
  const bundle = await rolldown({
    input: resolve(root, 'test/simulation/main.ts'),
    platform: 'node',
    external: [/^node:/, /^fp-ts\//, /^io-ts/, /^re2js/, /^@bufbuild\//],
    plugins: [patching(patches, found)],
    logLevel: 'silent',
  })
  const missed = () => patches.filter((patch) => !found.has(patch)).map(({ file }) => file)
  const folder = resolve(root, 'node_modules/.cache/edgewright-simulation')
  mkdirSync(folder, { recursive: true })
  // Several may be made at once, of the same name too.
  const file = resolve(folder, `${name}-${process.pid}-${threadId}.mjs`)
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  if (missed().length > 0) throw new Error(`${name} changes nothing in ${missed().join()}`)
  try {
    return await import(pathToFileURL(file).href)
  } finally {
    rmSync(file)
  }
}

const patching = (patches, found) => ({
  name: 'patch',
  transform: (code, id) => {
    let next = code
    for (const patch of patches) {
      if (!id.endsWith(`/src/${patch.file}`)) continue
      if (next.split(patch.find).length !== 2)
        throw new Error(`${patch.file} does not have exactly once: ${patch.find}`)
      found.add(patch)
      next = next.replace(patch.find, () => patch.replace)
    }
    return next === code ? undefined : { code: next }
  },
})
