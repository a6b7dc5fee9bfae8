import { describe, onTestFinished } from 'vitest'
import type { StartEnvoyUnderTest } from '../support/scripted-envoy.js'
import { lateScripts } from './envoy-scripts/late.js'
import { listenerScripts } from './envoy-scripts/listeners.js'
import { probeScripts } from './envoy-scripts/probes.js'
import { refusalScripts } from './envoy-scripts/refusals.js'
import { returnScripts } from './envoy-scripts/returns.js'
import { startScripts } from './envoy-scripts/start.js'
import { scopeScripts } from './envoy-scripts/scopes.js'
import { scopeChangeScripts } from './envoy-scripts/scope-changes.js'
import { scopeWaitScripts } from './envoy-scripts/scope-waits.js'
import type { Subject } from './envoy-scripts/steps.js'
import { tableScripts } from './envoy-scripts/tables.js'
import { treeScripts } from './envoy-scripts/trees.js'
import { warmingScripts } from './envoy-scripts/warming.js'

/**
 * How Envoy behaves as a client of a control plane: what every Envoy under test must do, be it real
 * or in memory.
 */
export const envoyClientContract = (name: string, start: StartEnvoyUnderTest): void => {
  describe.each(['sotw', 'delta'] as const)(`${name} in %s`, (variant) => {
    const subject: Subject = {
      variant,
      start: async (options = {}) => {
        const envoy = await start({ variant, ...options })
        onTestFinished(envoy.stop)
        return envoy
      },
    }
    describe('comes up', () => startScripts(subject))
    describe('lets clusters warm', () => warmingScripts(subject))
    describe('changes tables', () => tableScripts(subject))
    describe('finds routes in a tree', () => treeScripts(subject))
    describe('drains listeners', () => listenerScripts(subject))
    describe('finds tables by scopes', () => scopeScripts(subject))
    describe('waits for scopes', () => scopeWaitScripts(subject))
    describe('changes scopes', () => scopeChangeScripts(subject))
    describe('refuses', () => refusalScripts(subject))
    describe('refuses a cluster late', () => lateScripts(subject))
    describe('comes back after a refusal', () => returnScripts(subject))
    describe('is sent a table with poison', () => probeScripts(subject))
  })
}
