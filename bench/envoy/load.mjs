import { setTimeout } from 'node:timers'
import { connect } from 'node:net'
import { workerUs } from './usage.mjs'

/**
 * Sends requests for so long, on a connection for each, one after the other, and takes the next when its answer has
 * come: each answer is short enough to come in one piece. A request is `{ host, path }`; every answer must be a 200.
 * What they cost the worker of this Envoy, `cpuUs` each, and how many there were `perSecond`.
 */
export const load = async ({ pid, port }, requests, forMs) => {
  const [startedAt, before] = [performance.now(), workerUs(pid)]
  const until = startedAt + forMs
  const loads = requests.map((each) => loadOn(port, requestText(each), until))
  const answers = (await Promise.all(loads)).reduce((a, b) => a + b)
  return {
    perSecond: (answers * 1_000) / (performance.now() - startedAt),
    cpuUs: (workerUs(pid) - before) / answers,
  }
}

const requestText = ({ host, path }) => `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`

const loadOn = (port, request, until) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay()
    let answered = 0
    socket.on('error', reject)
    socket.on('close', () => resolve(answered))
    socket.on('connect', () => socket.write(request))
    socket.on('data', (data) => {
      if (!data.latin1Slice(0, 12).startsWith('HTTP/1.1 200')) {
        reject(new Error(`an answer is no 200: ${data}`))
        socket.destroy()
        return
      }
      answered += 1
      if (performance.now() < until) socket.write(request)
      else socket.destroy()
    })
  })

/** Asks on one connection, again and again, until the answer is a 200; `pauseMs` lie between an answer and the next request. */
export const untilServed = (port, request, pauseMs) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay()
    const ask = () => socket.write(requestText(request))
    socket.on('error', reject)
    socket.on('connect', ask)
    socket.on('close', () => reject(new Error('the Envoy has closed the connection')))
    socket.on('data', (data) => {
      if (data.latin1Slice(0, 12) === 'HTTP/1.1 200') {
        resolve()
        socket.destroy()
      } else setTimeout(ask, pauseMs)
    })
  })
