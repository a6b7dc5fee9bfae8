import { readdirSync, readFileSync } from 'node:fs'

/** The CPU of the main thread so far, in microseconds: there an Envoy takes in configuration. */
export const mainThreadUs = (pid) => threadUs(pid, pid)

/** The CPU of the one worker so far, in microseconds: there an Envoy answers requests. */
export const workerUs = (pid) => {
  const worker = readdirSync(`/proc/${pid}/task`).find((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').startsWith('wrk:'),
  )
  if (worker === undefined) throw new Error(`process ${pid} has no worker`)
  return threadUs(pid, worker)
}

/** To the nanosecond, as `stat` is not, which counts ticks of 10 ms. */
const threadUs = (pid, thread) =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1_000

/** The memory of a process at the moment. */
export const rssBytes = (pid) => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(kilobytes) * 1_024
}
