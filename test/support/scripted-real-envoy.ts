import { createSocket } from 'node:dgram'
import { Agent, createServer as createHttpServer, request as httpRequest } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { scopeHeader } from '../../src/core/table-form.js'
import type { TypeUrl } from '../../src/core/type-url.js'
import type { DiscoveryRequest } from '../../src/core/xds/messages.js'
import { eventually, freePort, startTestEnvoy, type TestEnvoy } from './envoy.js'
import { type ScriptedAds, scriptedAds } from './scripted-ads.js'
import {
  type Connection,
  type EnvoyUnderTest,
  type EnvoyUnderTestOptions,
  type Headers,
  inbox,
  type Inbox,
} from './scripted-envoy.js'

/** How long a request is waited for, in milliseconds: they come within ten. */
const patienceMs = 5_000
/** An ACK speaks for Envoy's main thread; its workers follow within this time. */
const settleMs = 150

/** Starts a real Envoy with two workers, and a control plane for it that does what the test says. */
export const startRealEnvoy = async (options: EnvoyUnderTestOptions): Promise<RealEnvoy> => {
  const box = inbox()
  const ads = await scriptedAds(box.put)
  const a = await backend('a')
  const b = await backend('b')
  const dns = await silentDns()
  const close = (): void => {
    ads.stop()
    for (const closing of [a, b, dns]) closing.close()
  }
  try {
    const envoy = await startTestEnvoy({
      xds: { host: '127.0.0.1', port: ads.port },
      variant: options.variant,
      until: 'admin',
      change: (made) => ({ ...made, ...resolvingWith(dns.port), ...impatient(made) }),
      ...(options.drainSeconds === undefined ? {} : { drainSeconds: options.drainSeconds }),
    })
    const stop = async (): Promise<void> => {
      await envoy.stop()
      close()
    }
    return { ...underTest(options, ads, box), envoy, backends: { a, b }, stop }
  } catch (cause) {
    close()
    throw cause
  }
}

export interface RealEnvoy extends EnvoyUnderTest {
  readonly envoy: TestEnvoy
}

const underTest = (
  { variant }: EnvoyUnderTestOptions,
  ads: ScriptedAds,
  box: Inbox,
): Omit<EnvoyUnderTest, 'backends' | 'stop'> => {
  let nonces = 0
  const streamAfter = (count: number): Promise<unknown> =>
    eventually(ads.opened, (opened) => opened > count, patienceMs)
  return {
    variant,
    freePort,
    send: (response) => {
      const sent = { ...response, nonce: `n${(nonces += 1)}` }
      ads.send(sent)
      return sent
    },
    nextRequest: (typeUrl, withinMs = patienceMs) => taken(box, typeUrl, withinMs),
    noRequest: async (typeUrl, ms) => {
      await sleep(ms)
      const before = box.show()
      if (box.take(typeUrl) !== undefined) throw new Error(`there is a request: ${before}`)
    },
    reconnect: async () => {
      const before = ads.opened()
      ads.breakStream()
      box.clear()
      await streamAfter(before)
    },
    request: once,
    connect,
    occupy,
    wait: async (ms) => {
      await sleep(ms)
    },
    settleMs,
  }
}

const taken = async (box: Inbox, typeUrl: TypeUrl, withinMs: number): Promise<DiscoveryRequest> => {
  const end = Date.now() + withinMs
  for (;;) {
    const request = box.take(typeUrl)
    if (request !== undefined) return request
    if (Date.now() >= end)
      throw new Error(`no request for ${typeUrl} within ${withinMs} ms, but: ${box.show()}`)
    await sleep(2)
  }
}

interface Closing {
  readonly close: () => void
  readonly address: string
  readonly port: number
}

const backend = async (name: string): Promise<Closing> => {
  const server = createHttpServer(({ headers }, answer) =>
    answer.end([name, headers[scopeHeader] ?? []].flat().join(' ')),
  )
  const port = await listening(server)
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { close, address: '127.0.0.1', port }
}

/** A DNS server that takes questions and answers none. */
const silentDns = async (): Promise<Closing> => {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { close: () => socket.close(), address: '127.0.0.1', port: socket.address().port }
}

const caresType = 'envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig'

const resolvingWith = (port: number): object => ({
  typed_dns_resolver_config: {
    name: 'envoy.network.dns_resolver.cares',
    typed_config: {
      '@type': `type.googleapis.com/${caresType}`,
      resolvers: [{ socket_address: { address: '127.0.0.1', port_value: port } }],
    },
  },
})

/** It dials again at once: the pause is no part of what is looked at. */
const impatient = (made: Readonly<Record<string, unknown>>): object =>
  JSON.parse(
    JSON.stringify(made).replace(/"base_interval":"[^"]*"/, '"base_interval":"0.05s"'),
  ) as object

const listening = (server: Server, port = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

const occupy = async (port: number): Promise<() => Promise<void>> => {
  const server = createServer((socket) => socket.destroy())
  await listening(server, port)
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
    })
}

const connect = (port: number): Connection => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let opened = false
  return {
    request: async (path, headers) => {
      const answer = await ask(port, path, agent, headers)
      const closed = opened && !answer.reused
      opened = true
      return closed ? 'closed' : answer.text
    },
  }
}

const once = async (port: number, path: string, headers?: Headers): Promise<string> =>
  (await ask(port, path, new Agent(), headers)).text

interface Asked {
  readonly text: string
  /** The request went over a connection that was open before. */
  readonly reused: boolean
}

/** An answer on this machine takes milliseconds; one that takes this long does not come. */
const silenceMs = 5_000

const ask = (port: number, path: string, agent: Agent, headers: Headers = {}): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, agent, headers, timeout: silenceMs })
    sent.on('response', (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const text = answer.statusCode === 200 ? `200 ${body}` : String(answer.statusCode)
        resolve({ text, reused: sent.reusedSocket })
      })
    })
    sent.on('timeout', () => sent.destroy(new Error(`port ${port} did not answer ${path}`)))
    sent.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNREFUSED')
        resolve({ text: 'refused', reused: false })
      else if (sent.reusedSocket) resolve({ text: 'closed', reused: false })
      // The kernel took it for a listener that closed at this moment: no answer that a script waits for.
      else if ('code' in error && error.code === 'ECONNRESET')
        resolve({ text: 'reset', reused: false })
      else reject(error)
    })
    sent.end()
  })
