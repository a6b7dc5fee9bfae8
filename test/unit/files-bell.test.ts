import { expect, test } from 'vitest'
import { bellOf } from '../../src/adapters/files/bell.js'
import { virtualClock } from '../../src/adapters/memory/clock.js'

const MAX_MS = 1_000
const QUIET_MS = 50

/** A bell on virtual time, and when its sleeper woke. */
const sleeper = () => {
  const clock = virtualClock()
  const stop = new AbortController()
  const bell = bellOf(clock, stop.signal)
  const wokeAt: Array<number> = []
  const sleep = (): void => {
    void bell.sleep(MAX_MS, QUIET_MS).then(() => wokeAt.push(clock.nowMs()))
  }
  /** Lets time pass in small steps, so that a sleeper that wakes sees when. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      clock.advance(10)
      await Promise.resolve()
    }
  }
  return { ...bell, sleep, pass, wokeAt, clock, stop }
}

test('nobody wakes a sleeper before its time if the bell does not ring', async () => {
  const { sleep, pass, wokeAt, clock } = sleeper()
  sleep()
  await pass(2 * MAX_MS)
  expect(wokeAt).toEqual([MAX_MS])
  expect(clock.waiting()).toBe(0)
})

test('a ring wakes the sleeper after a quiet time, and each further ring begins it anew', async () => {
  const { sleep, pass, ring, wokeAt } = sleeper()
  sleep()
  await pass(100)
  ring()
  await pass(40)
  ring()
  await pass(MAX_MS)
  expect(wokeAt).toEqual([140 + QUIET_MS])
})

test('rings without an end do not hold the sleeper beyond its time', async () => {
  const { sleep, pass, ring, wokeAt } = sleeper()
  sleep()
  for (let i = 0; i < 60; i += 1) {
    ring()
    await pass(20)
  }
  expect(wokeAt).toEqual([MAX_MS])
})

test('a ring before the sleep counts, once', async () => {
  const { sleep, pass, ring, wokeAt } = sleeper()
  ring()
  sleep()
  await pass(100)
  expect(wokeAt).toEqual([QUIET_MS])
  sleep()
  await pass(2 * MAX_MS)
  expect(wokeAt).toEqual([QUIET_MS, 100 + MAX_MS])
})

test('an abort wakes the sleeper at once, also before it sleeps, and leaves no timer', async () => {
  const { sleep, ring, wokeAt, clock, stop } = sleeper()
  sleep()
  ring()
  stop.abort()
  expect(clock.waiting()).toBe(0)
  sleep()
  ring()
  await Promise.resolve()
  expect(wokeAt).toEqual([0, 0])
  expect(clock.waiting()).toBe(0)
})
