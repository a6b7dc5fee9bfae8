import { expect, test } from 'vitest'
import { openWaiting } from '../../src/host/cli/serve/waiting.js'

test('says whose Lease is waited for, and whom to ask, until it is held', () => {
  const { hear, why } = openWaiting('edge')
  expect(why()).toBeUndefined()
  hear({ _tag: 'Waiting', holder: 'another' })
  expect(why()).toBe(
    'this control plane serves no Envoys: it waits for the Lease in the namespace edge, which another has. ' +
      'Ask that one, or the API server: --kubernetes --own-namespace edge',
  )
  hear({ _tag: 'Failing', message: 'cannot read it', isDenied: false })
  expect(why()).toContain('whose it is cannot be told: cannot read it')
  hear({ _tag: 'Acquired', how: 'Fresh', knewAll: false })
  expect(why()).toBeUndefined()
})

test('names nobody where the holder has given it back already, and none that a terminal acts on', () => {
  const { hear, why } = openWaiting('edge')
  hear({ _tag: 'Lost', holder: '' })
  expect(why()).toContain('which nobody has any more')
  hear({ _tag: 'Waiting', holder: 'a\u001b[2J' })
  expect(why()).not.toContain('\u001b')
})
