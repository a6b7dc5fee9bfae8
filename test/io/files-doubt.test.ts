import { mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { filesRouteSource } from '../../src/adapters/files/index.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'
import { type Clock, systemClock } from '../../src/ports/clock.js'
import { routeDirectory, type RouteDirectory, routeYaml } from '../contract/route-directory.js'
import { patience, type Watching, watching } from '../contract/route-source.js'

// Moments at which much is gone from a directory, and nothing was removed.

const names = Array.from({ length: 20 }, (_, i) => `r${String(i).padStart(2, '0')}`)
const all = Object.fromEntries(names.map((name) => [name, 200]))

const messages = (watch: Watching): string | undefined =>
  watch
    .latest()
    ?.problems.map(({ where, errors }) => `${where}: ${errors.map((e) => e.message).join('; ')}`)
    .join('\n')

/** A clock that tells how often somebody has begun to sleep: after each scan, here. */
const countingClock = (): Clock & { readonly sleeps: () => number } => {
  let sleeps = 0
  return {
    nowMs: systemClock.nowMs,
    after: (delayMs, callback) => {
      sleeps += 1
      return systemClock.after(delayMs, callback)
    },
    sleeps: () => sleeps,
  }
}

/** Waits until a second has passed, and the directory was looked at again and again. */
const aSecond = async (clock: ReturnType<typeof countingClock>): Promise<void> => {
  const startMs = clock.nowMs()
  const sleeps = clock.sleeps()
  const isOver = (): boolean => clock.nowMs() - startMs >= 1_000 && clock.sleeps() - sleeps >= 2
  await expect.poll(isOver, patience).toBe(true)
}

const fill = async (directory: RouteDirectory, below = ''): Promise<void> => {
  for (const name of names) await directory.write(`${below}${name}.yaml`, routeYaml(name))
}

const expectNeverFewer = ({ states }: Watching): void => {
  for (const { routes } of states) expect(routes.length).toBeGreaterThanOrEqual(names.length)
}

test('a rewrite that pauses nowhere removes nothing, however long it takes', async () => {
  const directory = await routeDirectory()
  await fill(directory)
  const clock = virtualClock()
  const watch = watching(filesRouteSource({ directory: directory.path, clock }))
  await expect.poll(watch.routes, patience).toEqual(all)
  for (const name of names) await directory.remove(`${name}.yaml`)
  // Time passes only between two writes: on no machine does it seem that the writer rests.
  for (let i = 0; i < 5_000 && !/19 removals wait/.test(messages(watch) ?? ''); i += 1) {
    await directory.write('r00.yaml', `${routeYaml('r00')}# ${String(i)}\n`)
    clock.advance(80)
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  }
  expect(messages(watch)).toMatch(/^\.: changes all the time: 19 removals wait/)
  expect(clock.nowMs()).toBeGreaterThan(2_000)
  await fill(directory)
  await vi.waitFor(() => {
    clock.advance(50)
    expect(messages(watch)).toBe('')
  }, patience)
  expect(watch.routes()).toEqual(all)
  expectNeverFewer(watch)
})

test('what is gone when the directory rests at last is removed', async () => {
  const directory = await routeDirectory()
  await fill(directory)
  const watch = watching(filesRouteSource({ directory: directory.path }))
  await expect.poll(watch.routes, patience).toEqual(all)
  for (const name of names.slice(1)) await directory.remove(`${name}.yaml`)
  await expect.poll(watch.routes, patience).toEqual({ r00: 200 })
})

test('a directory that is removed, and stays empty for a second, keeps its routes', async () => {
  const directory = await routeDirectory()
  await fill(directory)
  const clock = countingClock()
  const watch = watching(filesRouteSource({ directory: directory.path, clock }))
  await expect.poll(watch.routes, patience).toEqual(all)
  const before = watch.route('r07')
  await rm(directory.path, { recursive: true })
  await mkdir(directory.path)
  await mkdir(directory.at('.git'))
  await expect.poll(() => messages(watch), patience).toMatch(/^\.: was replaced and is empty/)
  await aSecond(clock)
  expect(watch.latest()?.problems[0]?.keepsLastGood).toBe(true)
  await fill(directory)
  await expect.poll(() => messages(watch), patience).toBe('')
  expect(watch.route('r07')).toBe(before)
  expectNeverFewer(watch)
})

test('a directory below that is replaced keeps its routes, and a file in it ends that', async () => {
  const directory = await routeDirectory()
  await fill(directory, 'shop/')
  await directory.write('other.yaml', routeYaml('other'))
  const clock = countingClock()
  const watch = watching(filesRouteSource({ directory: directory.path, clock }))
  await expect.poll(watch.routes, patience).toEqual({ ...all, other: 200 })
  await mkdir(`${directory.path}-new`)
  await rename(directory.at('shop'), `${directory.path}-old`)
  await rename(`${directory.path}-new`, directory.at('shop'))
  await directory.remove('other.yaml')
  await expect.poll(watch.routes, patience).toEqual(all)
  expect(messages(watch)).toMatch(/^shop\/: was replaced and is empty/)
  await aSecond(clock)
  expectNeverFewer(watch)
  await directory.write('shop/r00.yaml', routeYaml('r00'))
  await expect.poll(watch.routes, patience).toEqual({ r00: 200 })
  expect(messages(watch)).toBe('')
})

test('a directory that is removed for good, below the first, takes its routes along', async () => {
  const directory = await routeDirectory()
  await fill(directory, 'shop/')
  await directory.write('other.yaml', routeYaml('other'))
  const watch = watching(filesRouteSource({ directory: directory.path }))
  await expect.poll(watch.routes, patience).toEqual({ ...all, other: 200 })
  await directory.remove('shop')
  await expect.poll(watch.routes, patience).toEqual({ other: 200 })
  expect(messages(watch)).toBe('')
})

test('a file that a shell has emptied for a second keeps its routes', async () => {
  const directory = await routeDirectory()
  const path = directory.at('all.yaml')
  const text = names.map((name) => routeYaml(name)).join('---\n')
  await writeFile(path, text)
  const clock = countingClock()
  const watch = watching(filesRouteSource({ directory: directory.path, clock }))
  await expect.poll(watch.routes, patience).toEqual(all)
  await truncate(path)
  await expect.poll(() => messages(watch), patience).toMatch(/^all\.yaml: is empty/)
  await aSecond(clock)
  await writeFile(path, text)
  await expect.poll(() => messages(watch), patience).toBe('')
  expect(watch.routes()).toEqual(all)
  expectNeverFewer(watch)
  await writeFile(path, routeYaml('r00'))
  await expect.poll(watch.routes, patience).toEqual({ r00: 200 })
  await directory.remove('all.yaml')
  await expect.poll(watch.routes, patience).toEqual({})
})

test('who sets the time of the machine does not move the clock of a source', () => {
  const before = systemClock.nowMs()
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000)
  const wall = vi.spyOn(Date, 'now').mockReturnValue(0)
  const after = systemClock.nowMs()
  wall.mockRestore()
  expect(after - before).toBeGreaterThanOrEqual(0)
  expect(after - before).toBeLessThan(60_000)
})
