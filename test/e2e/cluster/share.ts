import { createServer, request } from 'node:http'
import { accessTo, type Cluster, type ClusterAddress } from './cluster.js'

/** A cluster that other processes may disturb, too: its servers stay those of its owner. Plain data. */
export interface SharedAddress extends ClusterAddress {
  /** Takes the orders of `orders`. */
  readonly ownerUrl: string
}

/** What others may ask of the owner, by the path that they ask with. */
const orders = {
  '/stop': (cluster: Cluster) => cluster.stopApiServer('SIGTERM'),
  '/kill': (cluster: Cluster) => cluster.stopApiServer('SIGKILL'),
  '/start': (cluster: Cluster) => cluster.startApiServer(),
} as const
type Order = keyof typeof orders

const isOrder = (path: string | undefined): path is Order =>
  path !== undefined && Object.hasOwn(orders, path)

export interface Share {
  readonly address: SharedAddress
  readonly stop: () => Promise<void>
}

/** Lets other processes of this machine stop and start the API server of a cluster. */
export const shareCluster = async (cluster: Cluster): Promise<Share> => {
  const server = createServer((asked, answer) => {
    const order = asked.url
    if (!isOrder(order)) return void answer.writeHead(404).end()
    orders[order](cluster).then(
      () => answer.writeHead(200).end(),
      (cause: unknown) => answer.writeHead(500).end(String(cause)),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const at = server.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  const { directory, url, etcdUrl, adminToken } = cluster
  return {
    address: { directory, url, etcdUrl, adminToken, ownerUrl: `http://127.0.0.1:${port}` },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A cluster that another process has shared. */
export const sharedCluster = (address: SharedAddress): Cluster => {
  const give = (order: Order): Promise<void> => post(address.ownerUrl + order)
  return {
    ...accessTo(address),
    stopApiServer: (signal) => give(signal === 'SIGTERM' ? '/stop' : '/kill'),
    startApiServer: () => give('/start'),
  }
}

/** Waits as long as it takes: the owner has deadlines of its own. */
const post = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('error', reject)
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(text))))
    })
    sent.on('error', reject)
    sent.end()
  })
