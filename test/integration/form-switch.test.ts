import { type Context, defaultDataPlane, type TableForm, wholeForm } from 'edgewright'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, freePort } from '../support/envoy.js'
import { answering, contextOf, snapshotOf, startRig } from '../support/rig.js'
import { answers, ask } from '../support/traffic.js'

const shards = 64
const sharded: TableForm = { _tag: 'Sharded', shards }

/** How long an Envoy drains here, in seconds: so that it has forgotten a form before that comes again. */
const drainSeconds = 2

test.each(['delta', 'sotw'] as const)(
  'in %s tables go into shards and back, again and again, and no request of any listener fails',
  { timeout: 120_000 },
  async (variant) => {
    const listeners = [
      { name: 'http', address: '127.0.0.1', port: await freePort() },
      { name: 'more', address: '127.0.0.1', port: await freePort() },
    ]
    const context = (form: TableForm): Context => ({
      ...contextOf(),
      dataPlanes: new Map([[defaultDataPlane, { listeners, shards, form }]]),
    })
    const snapshot = (form: TableForm, round: number) =>
      snapshotOf(
        [answering('kept', '/kept', 'kept'), answering('round', '/round', `${round}`)],
        context(form),
      )
    const rig = await startRig(variant, snapshot(wholeForm, 0))
    onTestFinished(rig.stop)
    const envoy = await rig.start({ drainSeconds })
    const ports = listeners.map(({ port }) => port)
    for (const port of ports) await answers(port, '/kept', '200 kept')
    const odd: Array<string> = []
    let asked = 0
    let isOver = false
    const keepAsking = async (port: number): Promise<void> => {
      while (!isOver) {
        const got = await ask(port, '/kept').catch((cause: unknown) => String(cause))
        asked += 1
        if (got !== '200 kept') odd.push(`${port} ${got}`)
      }
    }
    const load = ports.map((port) => keepAsking(port))
    try {
      for (const [round, form] of [sharded, wholeForm, sharded, wholeForm, sharded].entries()) {
        rig.publish(snapshot(form, round))
        for (const port of ports) await answers(port, '/round', `200 ${round}`)
        const draining = () => envoy.stat('listener_manager.total_filter_chains_draining')
        await eventually(draining, (count = 0) => count > 0)
        await eventually(draining, (count) => count === 0, 20_000)
      }
    } finally {
      isOver = true
      await Promise.all(load)
    }
    expect(odd).toEqual([])
    expect(asked).toBeGreaterThan(200)
  },
)
