import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { maxConnections } from '../../src/adapters/k8s/client/limits.js'
import { kubernetesRouteStore } from '../../src/adapters/k8s/route-store.js'
import { eventually } from '../support/envoy.js'
import { connectTo, startHttpServer, startHttpsServer } from '../support/k8s-https-server.js'
import { anObject, deleting } from '../support/stored-objects.js'

const released = JSON.stringify({ metadata: { resourceVersion: '2' } })

/** A server that answers nothing but PATCH until it is told to, and a client with all its connections in use. */
const busy = async () => {
  const seen: Array<string | undefined> = []
  const held: Array<() => void> = []
  const server = await startHttpsServer(({ method }, answer) => {
    seen.push(method)
    if (method === 'GET') held.push(() => answer.end('{}'))
    else answer.end(released)
  })
  const client = await connectTo(server)
  const forever = new AbortController().signal
  const asked = Array.from({ length: maxConnections }, () =>
    client.send({ method: 'GET', path: '/api/v1/pods', deadlineMs: 10_000 }, forever)(),
  )
  await eventually(
    () => held.length,
    (count) => count === maxConnections,
  )
  const free = async (): Promise<void> => {
    for (const answer of held) answer()
    await Promise.all(asked)
  }
  return { client, seen, free }
}

describe('a release that waits for a connection', () => {
  test.each([
    ['is sent if it is still proven then', true, E.right(undefined), 1],
    [
      'is not sent if an Envoy has come back meanwhile',
      false,
      E.left(expect.objectContaining({ _tag: 'Unproven' })),
      0,
    ],
  ])('%s', async (_, isStill, result, patches) => {
    const { client, seen, free } = await busy()
    let isProven = true
    const questions: Array<boolean> = []
    const release = kubernetesRouteStore(client).release(anObject('a', deleting), () => {
      questions.push(isProven)
      return isProven
    })()
    await eventually(
      () => questions.length,
      (count) => count === 1,
    )
    expect(seen).not.toContain('PATCH')
    isProven = isStill
    await free()
    expect(await release).toEqual(result)
    expect(questions).toEqual([true, isStill])
    expect(seen.filter((method) => method === 'PATCH')).toHaveLength(patches)
  })
})

describe.each([
  ['http', startHttpServer],
  ['https', startHttpsServer],
])('a request over %s that is to be asked for', (_, start) => {
  test('is asked for when its new connection is ready, and after that when it has one that was kept', async () => {
    const bodies: Array<string> = []
    const server = await start((asked, answer) => {
      let body = ''
      asked.on('data', (chunk: Buffer) => (body += chunk.toString()))
      asked.on('end', () => {
        bodies.push(body)
        answer.end('{}')
      })
    })
    const client = await connectTo(server)
    const connectionsThen: Array<number> = []
    const send = (body: string, isWanted: boolean) =>
      client.send(
        {
          ...{ method: 'PUT', path: '/a', body, deadlineMs: 5_000 },
          isWanted: () => {
            connectionsThen.push(server.connections.length)
            return isWanted
          },
        },
        new AbortController().signal,
      )()
    const unwanted = E.left(expect.objectContaining({ _tag: 'Unwanted' }))
    expect(await send('one', true)).toMatchObject(E.right({ status: 200 }))
    expect(await send('two', true)).toMatchObject(E.right({ status: 200 }))
    expect(await send('three', false)).toEqual(unwanted)
    expect(await send('four', false)).toEqual(unwanted)
    expect(bodies).toEqual(['"one"', '"two"'])
    // The first two had one connection, the third had it as well, and nobody has used it since.
    expect(connectionsThen.slice(1, 3)).toEqual([1, 1])
  })
})
