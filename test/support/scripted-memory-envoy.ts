import {
  nextTimer,
  openConnection,
  request as answerTo,
  start,
  step,
} from '../../src/adapters/memory/envoy/client/index.js'
import type {
  EnvoyEvent,
  ReceivedResponse,
} from '../../src/adapters/memory/envoy/client/messages.js'
import type { EnvoyOptions, Refuse } from '../../src/adapters/memory/envoy/client/options.js'
import type { EnvoyState } from '../../src/adapters/memory/envoy/client/state.js'
import { valuesOf } from '../../src/adapters/memory/envoy/routing/headers.js'
import type { Answer, Request } from '../../src/adapters/memory/envoy/routing/request.js'
import { scopeHeader } from '../../src/core/table-form.js'
import type { TypeUrl } from '../../src/core/type-url.js'
import type { DiscoveryRequest } from '../../src/core/xds/messages.js'
import {
  refusedLateMark,
  refusedMark,
  refusedWholeMark,
} from '../contract/envoy-scripts/resources.js'
import {
  type Backend,
  type Connection,
  type EnvoyUnderTest,
  type EnvoyUnderTestOptions,
  type Headers,
  inbox,
  type Sent,
  silentHost,
} from './scripted-envoy.js'

/** How long a request is waited for, in milliseconds: virtual ones, which cost nothing. */
const patienceMs = 5_000

/** Starts an Envoy in memory, on virtual time. The seed is for what real Envoys leave to chance. */
export const startMemoryEnvoy =
  (seed: number) =>
  (options: EnvoyUnderTestOptions): Promise<EnvoyUnderTest> => {
    const busy = new Set<number>()
    const envoy = running(start(optionsOf(seed, options, busy)))
    let nonces = 0
    let ports = 10_000
    envoy.handle({ _tag: 'Connected' })
    return Promise.resolve({
      variant: options.variant,
      backends,
      settleMs: 1,
      freePort: () => Promise.resolve((ports += 1)),
      send: (response) => {
        const sent = { ...response, nonce: `n${(nonces += 1)}` }
        envoy.handle({ _tag: 'ResponseReceived', response: received(sent) })
        return sent
      },
      nextRequest: promised((typeUrl, withinMs = patienceMs) => envoy.take(typeUrl, withinMs)),
      noRequest: promised((typeUrl, ms) => {
        envoy.pass(ms)
        const before = envoy.box.show()
        if (envoy.box.take(typeUrl) !== undefined) throw new Error(`there is a request: ${before}`)
      }),
      reconnect: promised(() => {
        envoy.handle({ _tag: 'Disconnected' })
        envoy.box.clear()
        envoy.handle({ _tag: 'Connected' })
      }),
      request: promised((port, path, headers) =>
        show(answerTo(envoy.state(), asked(port, path, headers))),
      ),
      connect: (port) => connection(envoy, port),
      occupy: promised((port) => {
        busy.add(port)
        return promised(() => void busy.delete(port))
      }),
      wait: promised((ms) => envoy.pass(ms)),
      stop: promised(() => undefined),
    })
  }

const asked = (listener: number, path: string, headers: Headers = {}): Request => {
  const { host = 'edge', ...others } = headers
  return { listener, host, path, headers: Object.entries(others) }
}

const connection = (envoy: RunningEnvoy, port: number): Connection => {
  let opened: number | undefined
  return {
    request: promised((path, headers) => {
      opened ??= envoy.connect(port)
      if (opened === undefined) return 'refused'
      const of = { ...asked(port, path, headers), connection: opened }
      const answer = show(answerTo(envoy.state(), of))
      return answer === 'refused' ? 'closed' : answer
    }),
  }
}

/** What throws rejects. */
const promised =
  <Arguments extends ReadonlyArray<unknown>, A>(
    run: (...args: Arguments) => A,
  ): ((...args: Arguments) => Promise<A>) =>
  (...args) =>
    new Promise((resolve) => resolve(run(...args)))

const backends: Readonly<Record<'a' | 'b', Backend>> = {
  a: { address: '10.0.0.1', port: 1 },
  b: { address: '10.0.0.1', port: 2 },
}

const optionsOf = (
  seed: number,
  { variant, drainSeconds }: EnvoyUnderTestOptions,
  busy: ReadonlySet<number>,
): EnvoyOptions => ({
  node: { id: 'memory', cluster: 'edge' },
  variant,
  seed,
  refuse,
  resolves: (host) => host !== silentHost,
  busyPorts: (port) => busy.has(port),
  ...(drainSeconds === undefined ? {} : { drainMs: drainSeconds * 1_000 }),
})

/** An Envoy in memory reads no regex, and knows no filter: it goes by the marks. */
const refuse: Refuse = (_, __, bytes) => {
  const text = Buffer.from(bytes).toString('latin1')
  if (text.includes(refusedWholeMark)) return { reason: 'it is invalid', whole: true }
  if (text.includes(refusedLateMark)) return { reason: 'it is bad', sticks: true }
  return text.includes(refusedMark) ? 'it is bad' : undefined
}

type RunningEnvoy = ReturnType<typeof running>

/** The one mutable cell, and its clock. */
const running = (initial: EnvoyState) => {
  const box = inbox()
  let state = initial
  let nowMs = 0
  const handle = (event: EnvoyEvent): void => {
    const [next, effects] = step(state, event)
    state = next
    for (const { request } of effects) box.put(request)
  }
  /** Lets time pass to the next timer, or to the end if there is none before. */
  const passTo = (endMs: number): void => {
    const dueMs = nextTimer(state) ?? endMs
    nowMs = Math.max(nowMs, Math.min(dueMs, endMs))
    handle({ _tag: 'TimePassed', nowMs })
    if (dueMs <= nowMs && nextTimer(state) === dueMs)
      throw new Error(`at ${nowMs} ms the timer of ${dueMs} ms is still set`)
  }
  return {
    box,
    handle,
    state: () => state,
    pass: (ms: number): void => {
      for (const endMs = nowMs + ms; nowMs < endMs;) passTo(endMs)
    },
    take: (typeUrl: TypeUrl, withinMs: number): DiscoveryRequest => {
      for (const endMs = nowMs + withinMs; ; passTo(endMs)) {
        const request = box.take(typeUrl)
        if (request !== undefined) return request
        if (nowMs >= endMs) throw new Error(`no request for ${typeUrl}, but: ${box.show()}`)
      }
    },
    connect: (at: string | number) => {
      const [next, opened] = openConnection(state, at)
      state = next
      return opened
    },
  }
}

const received = (sent: Sent): ReceivedResponse => {
  const { typeUrl, nonce, version, resources = [], removed = [] } = sent
  return {
    typeUrl,
    nonce,
    version,
    resources: resources.map((item) => ({ typeUrl, version, ...item })),
    removed,
  }
}

/** As a person who sends the request sees it. */
const show = (answer: Answer): string => {
  switch (answer._tag) {
    case 'Forwarded':
      return [
        '200',
        answer.endpoints.map(({ port }) => nameOf(port)).join(),
        ...valuesOf(answer.headers, scopeHeader),
      ].join(' ')
    case 'Responded':
      return answer.code === 200 ? `200 ${answer.body}` : String(answer.code)
    case 'Redirected':
      return String(answer.code)
    case 'NotFound':
      return '404'
    case 'ServiceUnavailable':
      return '503'
    case 'ConnectionRefused':
      return 'refused'
  }
}

const nameOf = (port: number): string => (port === backends.a.port ? 'a' : 'b')
