// Turns every `ts` block of the README, of docs/ and of doc comments into a test file of its own, so that no
// example can go stale. An example is complete, with its imports, and ends well if it throws nothing.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const target = 'test/docs/generated'
const filesBelow = (folder, ending) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => `${folder}/${path}`)
    .sort()

const sources = filesBelow('src', '.ts').filter((path) => !path.startsWith('src/gen/'))
const pages = ['README.md', 'ARCHITECTURE.md', ...filesBelow('docs', '.md')]

/** An import, on one line or on several. */
const importPattern = /^import [^;]*? from '[^']+'\n|^import '[^']+'\n/gm

/** Imports stay outside of the test, everything else goes inside; nothing is added but the test itself. */
const testOf = (name, code) => {
  const imports = code.match(importPattern) ?? []
  const body = code.replace(importPattern, '').trim()
  return `import { test } from 'vitest'
${imports.join('')}
test('the example in ${name} works', async () => {
${body.replace(/^(?=.)/gm, '  ')}
})
`
}

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const path of [...sources, ...pages]) {
  const text = readFileSync(path, 'utf8')
  const plain = path.endsWith('.ts') ? text.replace(/^ *\* ?/gm, '') : text
  let count = 0
  for (const [, code] of plain.matchAll(/^```ts\n([\s\S]*?)^```/gm)) {
    count += 1
    const name = `${path}#${count}`
    writeFileSync(`${target}/${name.replaceAll(/[^\w-]/g, '-')}.test.ts`, testOf(name, code))
  }
}
