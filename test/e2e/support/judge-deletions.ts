import type { DeletionEnvoy } from '../../support/deletion/wired-envoy.js'
import { ask } from '../../support/traffic.js'
import type { Edge } from './edge.js'

/** What was seen of the routes that the API server has let go of. */
export interface Judged {
  /** Of how many of them every Envoy that there was then has answered a request. */
  readonly count: number
  /** Requests that were answered by a backend although their route was gone from the API server already. */
  readonly served: ReadonlyArray<string>
}

/**
 * Asks every Envoy for each route of the namespace in the moment in which the API server is heard to say that it is
 * gone; after the API server was away, for each one that went meanwhile. No name may be used twice, and each route is one
 * for the prefix of its name. What it returns waits for the answers that are under way.
 */
export const judgeDeletions = async (
  edge: Edge,
  envoys: () => ReadonlyArray<DeletionEnvoy>,
): Promise<() => Promise<Judged>> => {
  const served: Array<string> = []
  const looks: Array<Promise<boolean>> = []
  const askOne = async (envoy: DeletionEnvoy, name: string): Promise<boolean> => {
    const answer = await ask(await envoy.port(), `/${name}`)
    if (answer.startsWith('200')) served.push(`${envoy.id} ${name}: ${answer}`)
    return true
  }
  const look = async (name: string): Promise<boolean> => {
    const asked = envoys().map((envoy) => askOne(envoy, name).catch(() => false))
    const answered = await Promise.all(asked)
    return answered.length > 0 && answered.every((isAnswered) => isAnswered)
  }
  const { onEvent } = await edge.watch()
  onEvent(({ type, object }) => {
    if (type === 'DELETED') looks.push(look(object.metadata.name))
  })
  return async () => {
    const answered = await Promise.all(looks)
    return { count: answered.filter((isAnswered) => isAnswered).length, served: [...served] }
  }
}
