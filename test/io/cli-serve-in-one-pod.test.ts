import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type CliApiServer, startCliApiServer } from '../support/cli-api-server.js'
import { type Serving, startServing } from '../support/cli-serving.js'
import { eventually, freePort, request } from '../support/envoy.js'

const cleanups: Array<() => unknown> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/edgewright/leases/edgewright'
const podUid = '00000000-0000-0000-0000-000000000001'

interface Pod {
  readonly api: CliApiServer
  /** Runs another process in it, with an `--admin`. */
  readonly serve: (admin: string) => Serving
  /** Who has the Lease; empty if nobody has. */
  readonly holder: () => string
}

const aPod = async (): Promise<Pod> => {
  const api = await startCliApiServer()
  cleanups.push(api.stop)
  const serve = (admin: string): Serving => {
    const argv = ['--admin', admin]
    const serving = startServing({
      kubeconfig: api.kubeconfig,
      argv,
      env: { POD_UID: podUid },
    })
    cleanups.push(serving.dispose)
    return serving
  }
  const holder = (): string => {
    const spec = api.get(leasePath)?.['spec'] as { readonly holderIdentity: string } | undefined
    return spec?.holderIdentity ?? ''
  }
  return { api, serve, holder }
}

const addressOf = (port: number): string => `127.0.0.1:${port}`

const isBound = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    cleanups.push(() => socket.destroy())
  })

test('a second process that finds the port for operators taken ends before it asks for the Lease', async () => {
  const { api, serve, holder } = await aPod()
  const port = await freePort()
  const first = serve(addressOf(port))
  await first.xdsPort()
  const name = holder()
  expect(name).not.toBe('')
  const askedBefore = api.asked.length
  const second = serve(addressOf(port))
  expect(await second.ended).toBe(1)
  expect(second.log()).toContain('the port is in use')
  expect(second.log()).not.toContain('lease')
  expect(api.asked.slice(askedBefore)).not.toContain(`PUT ${leasePath}`)
  expect(holder()).toBe(name)
  expect(await first.stop()).toBe(0)
})

test.each(['of its own', 'that is off'])(
  'a second process with an endpoint for operators %s is another one, and waits for the Lease',
  async (which) => {
    const { api, serve, holder } = await aPod()
    const isOff = which === 'that is off'
    const first = serve(isOff ? 'off' : addressOf(await freePort()))
    await first.xdsPort()
    const name = holder()
    const second = serve(isOff ? 'off' : addressOf(await freePort()))
    await eventually(second.log, (text) => text.includes('waiting for it'))
    expect(second.log()).not.toContain('listening for Envoys')
    expect(await second.stop()).toBe(0)
    expect(holder()).toBe(name)
    expect(await first.stop()).toBe(0)
    expect(api.get(leasePath)).toMatchObject({ spec: { leaseTransitions: 0 } })
  },
)

test('one that waits for the Lease answers to operators whose it is, and whom to ask', async () => {
  const { api, serve } = await aPod()
  api.put(leasePath, { spec: { holderIdentity: 'another', leaseDurationSeconds: 3_600 } })
  const port = await freePort()
  const waiting = serve(addressOf(port))
  await eventually(waiting.log, (text) => text.includes('waiting for it'))
  const { status, body } = await request(`http://${addressOf(port)}/v1/nodes`)
  expect(status).toBe(503)
  expect(JSON.parse(body)).toMatchObject({ error: { reason: 'Starting' } })
  for (const words of ['it waits for the Lease', 'which another has', '--kubernetes'])
    expect(body).toContain(words)
  expect(await waiting.stop()).toBe(0)
})

test('a container that has crashed and is started again in its Pod has its Lease at once', async () => {
  const { api, serve, holder } = await aPod()
  const admin = addressOf(await freePort())
  const first = serve(admin)
  await first.xdsPort()
  // As it is left by one that dies without a word.
  const left = api.get(leasePath)
  expect(await first.stop()).toBe(0)
  expect(holder()).toBe('')
  api.put(leasePath, {
    ...left,
    spec: { ...(left?.['spec'] as object), leaseDurationSeconds: 3_600 },
  })
  const second = serve(admin)
  await second.xdsPort()
  expect(second.log()).not.toContain('waiting for it')
})

test('the port for operators is free for the next process no sooner than the Lease is', async () => {
  const { api, serve, holder } = await aPod()
  const port = await freePort()
  const first = serve(addressOf(port))
  await first.xdsPort()
  const seen: Array<Promise<boolean>> = []
  api.refuse = (method, path) => {
    if (method === 'PUT' && path === leasePath) seen.push(isBound(port))
    return undefined
  }
  expect(await first.stop()).toBe(0)
  expect(holder()).toBe('')
  expect(seen).not.toEqual([])
  expect(await Promise.all(seen)).not.toContain(false)
  expect(await isBound(port)).toBe(false)
})
