import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, ServerCredentials } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { clusterType } from '../../src/core/type-url.js'
import { connect, startServer } from '../support/test-xds-server.js'
import { aNode, aSnapshot } from '../support/xds.js'

interface Identity {
  readonly certificate: Buffer
  readonly key: Buffer
}

/** A key, and a certificate for `localhost` that is signed with it. */
const selfSigned = (): Identity => {
  const directory = mkdtempSync(join(tmpdir(), 'edgewright-tls-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const [certificate, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', '/CN=edgewright', '-addext', 'subjectAltName=DNS:localhost', '-days', '1'],
      ...['-out', certificate, '-keyout', key],
    ],
    { stdio: 'pipe' },
  )
  return { certificate: readFileSync(certificate), key: readFileSync(key) }
}

test('over TLS only a client that speaks it, and trusts the server, gets an answer', async () => {
  const { certificate, key } = selfSigned()
  const server = await startServer({
    credentials: ServerCredentials.createSsl(null, [{ cert_chain: certificate, private_key: key }]),
  })
  server.publish(aSnapshot({ cds: 'a' }))
  const first = { node: aNode, typeUrl: clusterType }

  const trusting = connect(server, credentials.createSsl(certificate)).sotw()
  trusting.send(first)
  expect((await trusting.next()).resources).toHaveLength(1)

  for (const other of [undefined, credentials.createSsl(selfSigned().certificate)]) {
    const stream = connect(server, other).sotw()
    stream.send(first)
    expect(await stream.ended).toMatchObject({ code: 'UNAVAILABLE' })
  }
  expect(server.seen('StreamOpened')).toHaveLength(1)
})
