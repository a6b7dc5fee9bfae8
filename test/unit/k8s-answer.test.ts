import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, test } from 'vitest'
import { ask } from '../../src/adapters/k8s/objects/answer.js'

const asked = (kind: string, name: string) => {
  const message = `${kind} "${name}" not found`
  const body = { kind: 'Status', reason: 'NotFound', message, details: { kind, name } }
  const send = () => TE.right({ status: 404, body, retryAfterMs: undefined })
  const client = { send, stream: send }
  const request = { method: 'POST', path: '/', body: {}, deadlineMs: 1 } as const
  return ask(client, request, 'write the Lease edge/edgewright', new AbortController().signal)
}

test('where the namespace is missing in which something is to be made, it is said what to do', async () => {
  const answer = await asked('namespaces', 'edge')
  expect(answer).toMatchObject({
    _tag: 'Missing',
    problem: {
      message:
        'cannot write the Lease edge/edgewright: there is none: namespaces "edge" not found; ' +
        'create it: kubectl create namespace edge, or name another with --own-namespace',
    },
  })
})

test('of what else is missing nothing more is said', async () => {
  expect(JSON.stringify(await asked('leases', 'edgewright'))).not.toContain('create')
})
