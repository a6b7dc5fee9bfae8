import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, test } from 'vitest'
import { lockRoster } from '../../src/adapters/files/index.js'
import { type CliProcess, filesIn, routeYaml, spawnCli } from '../support/cli.js'
import { eventually } from '../support/envoy.js'

const cleanups: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const files = (): string => {
  const { directory, dispose } = filesIn({ 'a.yaml': routeYaml('a', '{ respond: { code: 200 } }') })
  cleanups.push(dispose)
  return directory
}

describe.runIf(process.platform === 'linux')('the file of a roster', () => {
  test('is of one at a time, by whatever path, and is free again', async () => {
    const directory = files()
    const path = join(directory, 'nodes.json')
    symlinkSync(directory, join(directory, 'link'))
    const lock = await lockRoster(path)
    for (const same of [path, join(directory, 'link', 'nodes.json'), relative('.', path)])
      expect(await lockRoster(same)).toEqual(
        E.left(expect.stringContaining('end that one first') as unknown),
      )
    // A save puts another file there.
    writeFileSync(path, '')
    expect(E.isLeft(await lockRoster(path))).toBe(true)
    if (E.isRight(lock)) await lock.right.release()
    const again = await lockRoster(path)
    expect(E.isRight(again)).toBe(true)
    if (E.isRight(again)) await again.right.release()
  })

  test('is another one under another name, or in another directory', async () => {
    const directory = files()
    mkdirSync(join(directory, 'other'))
    const names = ['nodes.json', 'nodes', 'other/nodes.json']
    const locks = await Promise.all(names.map((name) => lockRoster(join(directory, name))))
    expect(locks.map(E.isRight)).toEqual([true, true, true])
    for (const lock of locks) if (E.isRight(lock)) await lock.right.release()
  })

  test('that has no directory is left to whoever reads it', async () => {
    const path = join(files(), 'nope', 'nodes.json')
    expect((await Promise.all([lockRoster(path), lockRoster(path)])).map(E.isRight)).toEqual([
      true,
      true,
    ])
  })

  const serve = (directory: string): CliProcess => {
    const cli = spawnCli([
      ...['serve', '--routes', directory, '--roster', join(directory, 'nodes.json')],
      ...['--xds', '127.0.0.1:0', '--admin', 'off'],
    ])
    cleanups.push(cli.dispose)
    return cli
  }
  const listening = (cli: CliProcess): Promise<string> =>
    eventually(cli.err, (text) => text.includes('listening for Envoys'))

  test('keeps a second serve from starting, and none after the first was killed', async () => {
    const directory = files()
    const first = serve(directory)
    await listening(first)
    const second = await serve(directory).finished
    expect(second).toMatchObject({ code: 1, out: '' })
    expect(second.err).toContain(
      `edgewright serve: --roster: another process keeps its list of Envoys in ${join(directory, 'nodes.json')}`,
    )
    expect(second.err).not.toContain('listening for Envoys')
    first.child.kill('SIGKILL')
    await first.finished
    await listening(serve(directory))
  })
})
