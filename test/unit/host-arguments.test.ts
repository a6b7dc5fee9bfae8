import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../src/host/cli/arguments.js'
import type { Command } from '../../src/host/cli/command.js'
import { contextOf, parseCount, parseHostPort } from '../../src/host/cli/values.js'

const command: Command = {
  name: 'do',
  summary: '',
  description: '',
  operands: [{ name: 'DIR', help: 'a directory', isOption: 'from' }],
  options: [
    { name: 'routes', value: 'DIR', isOperand: true, help: '' },
    { name: 'listener', value: 'HOST:PORT', repeatable: true, help: '' },
    { name: 'check', help: '' },
  ],
  prepare: () => E.left('never'),
}

const parse = (...argv: ReadonlyArray<string>) => parseArguments(command, argv)

describe('parseArguments', () => {
  test('options and operands may stand in any order, and values with or without =', () => {
    expect(parse('--routes=a', 'dir', '--check', '--listener', 'x:1', '--listener=y:2')).toEqual(
      E.right({
        operands: ['dir'],
        values: new Map([
          ['routes', ['a']],
          ['check', ['true']],
          ['listener', ['x:1', 'y:2']],
        ]),
      }),
    )
  })

  test('a flag may be given twice, since it says the same', () => {
    expect(E.isRight(parse('d', '--check', '--check'))).toBe(true)
  })

  test('behind -- everything is an operand', () => {
    expect(parse('--', '--dir')).toEqual(E.right({ operands: ['--dir'], values: new Map() }))
  })

  test.each([
    [['d', '--route', 'a'], 'there is no option --route; did you mean --routes?'],
    [['d', '--chekc'], 'there is no option --chekc; did you mean --check?'],
    [['d', '--xyzzy'], 'the options are --routes, --listener, --check'],
    [['d', '-x'], 'there is no option -x'],
    [['d', '--routes'], '--routes needs a value: --routes DIR'],
    [['d', '--routes='], '--routes needs a value'],
    [['d', '--routes', '--check'], '--routes needs a value'],
    [['d', '--check=yes'], '--check takes no value'],
    [[], 'DIR is missing: a directory'],
    [['d', 'e f'], `"e f" is one argument too many; did you mean --routes 'e f'?`],
    [['--from', 'd'], 'there is no option --from; say edgewright do DIR'],
    [['d', '--routes', 'a', '--routes', 'b'], '--routes is given twice'],
    [['d', '--routes', 'a', '--routes=a'], '--routes is given twice'],
  ])('%j is refused, and it is said what would be right', (argv, message) => {
    const parsed = parse(...argv)
    expect(E.isLeft(parsed) && parsed.left).toContain(message)
  })
})

describe('parseHostPort', () => {
  test.each([
    ['127.0.0.1:18000', { host: '127.0.0.1', port: 18_000 }],
    ['[::1]:1', { host: '::1', port: 1 }],
    ['edge.example:65535', { host: 'edge.example', port: 65_535 }],
  ])('%s is an address', (text, expected) => {
    expect(parseHostPort('--xds', text)).toEqual(E.right(expected))
  })

  test.each(['', '18000', 'a', 'a:', ':1', '::1:1', '[a]:1', 'a:b', 'a:0', 'a:65536', 'a b:1'])(
    '%j is none, and the message names the option',
    (text) => {
      const parsed = parseHostPort('--xds', text)
      expect(E.isLeft(parsed) && parsed.left).toContain(`--xds ${text}: `)
    },
  )

  test('port 0 is for those who ask which one it became', () => {
    expect(parseHostPort('--xds', '::0', 0)._tag).toBe('Left')
    expect(parseHostPort('--xds', 'a:0', 0)).toEqual(E.right({ host: 'a', port: 0 }))
  })
})

describe('contextOf', () => {
  test('listeners have names, http where none is given', () => {
    const context = contextOf('blue', ['0.0.0.0:80', 'inside=[::1]:8080'])
    expect(E.isRight(context) && [...context.right.dataPlanes]).toEqual([
      [
        'blue',
        {
          listeners: [
            { name: 'http', address: '0.0.0.0', port: 80 },
            { name: 'inside', address: '::1', port: 8080 },
          ],
        },
      ],
    ])
  })

  test('one port may be taken on several addresses, also on all and on one of them', () => {
    for (const other of ['b=127.0.0.1:80', 'b=[fe80::1%eth0]:80', 'b=0.0.0.0:81', 'b=0.0.0.0:0'])
      expect(contextOf('blue', ['a=0.0.0.0:80', other])._tag).toBe('Right')
  })

  test.each([
    [['0.0.0.0:80', '0.0.0.0:81'], 'two listeners are called http'],
    [['0.0.0.0:80', '0.0.0.0:81'], 'name this one, as in --listener http2=0.0.0.0:81'],
    [['a=0.0.0.0:80', 'a=[::]:81'], 'name this one, as in --listener a2=[::]:81'],
    [['foo:bar'], '--listener foo:bar: should be [NAME=]HOST:PORT, as in 0.0.0.0:10000'],
    [['localhost:80'], 'an IP address'],
    [['=0.0.0.0:80'], 'name before the ='],
    [['a=b=0.0.0.0:80'], 'an IP address'],
    [['0.0.0.0:65536'], 'a port is from 0'],
    [['a=0.0.0.0:80', 'b=0.0.0.0:80'], 'b would listen where a does, on 0.0.0.0:80'],
    [['a=0.0.0.0:80', 'b=0.0.0.0:81', 'c=0.0.0.0:80'], 'c would listen where a does'],
    [['a=[::1]:80', 'b=[0:0:0:0:0:0:0:1]:80'], 'b would listen where a does'],
  ])('%j is refused, and it is said what would be right', (listeners, message) => {
    const context = contextOf('blue', listeners)
    expect(E.isLeft(context) && context.left).toContain(message)
  })
})

describe('parseCount', () => {
  test('a count is a whole number from 1', () => {
    expect(parseCount('--n', '1')).toEqual(E.right(1))
    expect(parseCount('--n', '50000')).toEqual(E.right(50_000))
  })

  test.each(['', '0', '-1', '1.5', '1e3', '2147483648', 'many'])('%j is none', (text) => {
    const parsed = parseCount('--n', text)
    expect(E.isLeft(parsed) && parsed.left).toContain('--n')
  })
})
