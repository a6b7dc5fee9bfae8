/**
 * Makes the folder that a container image needs to run `edgewright serve`: `node tools/make-image-root.mjs DIRECTORY`.
 *
 * It has what is built in `dist/`, and the packages that the program uses at run time, the optional ones too, of the
 * very versions that package-lock.json names. Nothing in it needs to be built.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Peers that the program itself uses; fast-check is for tests. */
const used = ['@grpc/grpc-js', '@kubernetes/client-node', 'fp-ts', 'io-ts', 'yaml']

const directory = process.argv[2]
if (directory === undefined) throw new Error('say where: node tools/make-image-root.mjs DIRECTORY')

const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const write = (path, value) => writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`)

const manifest = read('package.json')
const { name, version, license, type, engines, bin, exports } = manifest
const versions = Object.fromEntries(used.map((peer) => [peer, manifest.devDependencies[peer]]))
const dependencies = { ...manifest.dependencies, ...versions }
const runtime = { name, version, license, type, engines, bin, exports, dependencies }

const lock = read('package-lock.json')
const root = { name, version, license, engines, bin, dependencies }

mkdirSync(directory, { recursive: true })
write(join(directory, 'package.json'), runtime)
write(join(directory, 'package-lock.json'), {
  ...lock,
  packages: { ...lock.packages, '': root },
})
cpSync('dist', join(directory, 'dist'), {
  recursive: true,
  filter: (path) => !path.endsWith('.tsbuildinfo') && !path.endsWith('.d.ts'),
})
for (const file of ['LICENSE', 'NOTICE']) cpSync(file, join(directory, file))
// No scripts: none of these packages needs any, and an image is no place for surprises.
execFileSync('npm', ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit'], {
  cwd: directory,
  stdio: 'inherit',
})
