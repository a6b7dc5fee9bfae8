import { createServer } from 'node:net'

/**
 * Below the ports that Linux gives to outgoing connections (from 32768), so that none of them takes a port while the
 * server that belongs there is down.
 */
const lowest = 20_000
const count = 12_000
const maxTries = 200

/** So many ports of 127.0.0.1 that nobody listens on at the moment, all different. */
export const freePorts = async (wanted: number): Promise<ReadonlyArray<number>> => {
  const found = new Set<number>()
  for (let tries = 0; found.size < wanted && tries < maxTries; tries += 1) {
    const port = lowest + Math.floor(Math.random() * count)
    if (await isFree(port)) found.add(port)
  }
  if (found.size < wanted) throw new Error('there are no free ports')
  return [...found]
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
