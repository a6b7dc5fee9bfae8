import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { envoyVersion } from '../envoy/processes.mjs'

/** The machine of a run, and what ran on it, in words. */
export const machineInWords = async () => {
  const [{ model }] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const go = /go(\d\S*)/.exec(execFileSync('go', ['version'], { encoding: 'utf8' }))?.[1]
  const programs = `Node ${process.versions.node}, Go ${go}, Envoy ${await envoyVersion()}`
  return `${cpus().length} cores of an ${model}, ${gigabytes} GB, Linux ${release().split('-')[0]}; ${programs}`
}

/** As in `3 December 2026`. */
export const today = () =>
  new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
