// Generates src/gen from the descriptor set, unless what is there came from the same inputs.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const descriptors = 'proto/envoy-1.40.0.binpb'
const template = 'proto/buf.gen.yaml'
const stamp = 'src/gen/.stamp'

const inputs = createHash('sha256')
for (const file of [descriptors, template, 'tools/generate.mjs', 'package-lock.json'])
  inputs.update(readFileSync(file))
const wanted = inputs.digest('hex')

if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) process.exit(0)

rmSync('src/gen', { recursive: true, force: true })
execFileSync('node_modules/.bin/buf', ['generate', descriptors, '--template', template], {
  stdio: 'inherit',
})

// ts-proto assigns to a readonly property of Struct when types are readonly.
const struct = 'src/gen/google/protobuf/struct.ts'
const before = 'const struct = createBaseStruct();'
const source = readFileSync(struct, 'utf8')
if (!source.includes(before))
  throw new Error(`${struct} no longer has the line to mend (${before}): see tools/generate.mjs`)
writeFileSync(struct, source.replace(before, 'const struct: any = createBaseStruct();'))
writeFileSync(stamp, wanted)
