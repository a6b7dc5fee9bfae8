import * as library from '@kubernetes/client-node'
import { expect, test } from 'vitest'

test('the tests of the client run with the major version of the library that was asked for', () => {
  const major = 'applyToFetchOptions' in library.KubeConfig.prototype ? '1' : '2'
  expect(major).toBe(process.env['EDGEWRIGHT_CLIENT_NODE'] ?? '1')
})
