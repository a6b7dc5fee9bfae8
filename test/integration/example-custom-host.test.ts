import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { eventually, freePort, request, startTestEnvoy } from '../support/envoy.js'
import { packingLine, type Started, unpackExample } from '../support/examples.js'

const cleanups: Array<() => unknown> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Answers every request with its name. */
const startBackend = async (name: string): Promise<number> => {
  const server = createServer((_, response) => response.end(name))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => (server.closeAllConnections(), void server.close()))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test("a host of one's own, from the tarball, serves a route and proves that it is gone", async () => {
  const example = await unpackExample('custom-host')
  cleanups.push(example.dispose)
  const [commands = '', nodes = ''] = example.blocks('sh')
  const [command = '', ...preparations] = commands.split('\n').reverse()
  expect(preparations).toContain(packingLine)
  const prepared = await example.run(preparations.reverse().join('\n'))
  expect(prepared, prepared.out).toMatchObject({ code: 0 })

  const [xds, admin, listener] = [await freePort(), await freePort(), await freePort()]
  const env = { XDS_PORT: `${xds}`, ADMIN_PORT: `${admin}`, LISTEN_PORT: `${listener}` }
  const launch = async (): Promise<Started> => {
    const host = example.start(command, env)
    cleanups.push(host.end)
    await eventually(host.out, (out) => out.includes('"listening"'), 30_000)
    return host
  }
  const say = (services: Readonly<Record<string, unknown>>): void => {
    writeFileSync(join(example.directory, 'services.json'), JSON.stringify(services))
  }
  const statusOf = async (): Promise<number> =>
    (await request(`http://127.0.0.1:${listener}/shop/cart`)).status

  say({})
  const first = await launch()
  const envoy = await startTestEnvoy({ xds: { host: '127.0.0.1', port: xds }, variant: 'delta' })
  cleanups.push(envoy.stop)
  await eventually(statusOf, (status) => status === 404)
  await first.end()
  expect(first.out()).toMatch(/"stopped"}\n$/)

  // It is on the roster, so that the next process waits for it, and for nobody else.
  const second = await launch()
  say({ shop: { path: '/shop', host: '127.0.0.1', port: await startBackend('shop') } })
  await eventually(statusOf, (status) => status === 200, 60_000)
  const asked = `${nodes} --admin 127.0.0.1:${admin}`
  expect((await example.run(asked)).out).toContain(envoy.id)

  say({})
  await eventually(second.out, (out) => out.includes('"Proven"'), 30_000)
  expect(await statusOf()).toBe(404)
  expect(second.out()).toMatch(/"Withdrawn","route":"shop"[\s\S]*"Proven","route":"shop"/)
  await second.end()
  expect(second.out()).toMatch(/"stopped"}\n$/)
}, 300_000)
