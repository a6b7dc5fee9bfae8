import * as E from 'fp-ts/lib/Either.js'
import { objectIn, textIn } from '../../src/adapters/k8s/informers/index.js'
import { kubernetesRosterStore } from '../../src/adapters/k8s/roster-store.js'
import type { Roster } from '../../src/core/roster.js'
import type { RosterStore } from '../../src/ports/roster-store.js'
import { lost, type ObjectServer } from './k8s-object-server.js'
import { anEntry, aRoster } from './roster.js'

export const namespace = 'edge'
export const collection: string = `/api/v1/namespaces/${namespace}/configmaps`
export const headPath: string = `${collection}/edgewright-roster`
export const small: Roster = aRoster(anEntry('a'), anEntry('b'))

/** As many Envoys of Pods; each takes some 160 bytes. */
export const fleet = (size: number, marked?: number): Roster =>
  aRoster(
    ...Array.from({ length: size }, (_, i) =>
      anEntry(`edge/envoy-${String(i).padStart(6, '0')}/6f0c2b1e-0000-4000-8000-000000000000`, {
        isShared: i === marked,
      }),
    ),
  )

/** What a process uses that starts now. */
export const open = (server: ObjectServer): RosterStore =>
  kubernetesRosterStore(server.client, { namespace })

export const loaded = async (server: ObjectServer): Promise<RosterStore> => {
  const store = open(server)
  const read = await store.load()()
  if (E.isLeft(read)) throw new Error(read.left.message)
  return store
}

/** What a process reads that starts now. */
export const load = (server: ObjectServer): ReturnType<ReturnType<RosterStore['load']>> =>
  open(server).load()()

export const save = (
  store: RosterStore,
  roster: Roster,
): ReturnType<ReturnType<RosterStore['save']>> => store.save(roster)()

type Asked = ObjectServer['asked'][number]

export const isWrite = ({ method }: Asked): boolean => method !== 'GET'

export const isHead = ({ method, path, body }: Asked): boolean =>
  (method === 'PUT' && path === headPath) ||
  (method === 'POST' && objectIn(body, 'metadata')['name'] === 'edgewright-roster')

/** The parts that are there. */
export const partsOn = ({ names }: ObjectServer): ReadonlyArray<string> =>
  names(collection).filter((name) => name !== 'edgewright-roster')

/** The parts that the head names. */
export const partsNamedOn = ({ at }: ObjectServer): ReadonlyArray<string> => {
  const { parts } = JSON.parse(textIn(objectIn(at(headPath), 'data'), 'parts') ?? '{}') as {
    readonly parts?: ReadonlyArray<{ readonly name: string }>
  }
  return (parts ?? []).map(({ name }) => name)
}

export const mapped = async (result: ReturnType<typeof load>): Promise<E.Either<string, Roster>> =>
  E.mapLeft(String)(await result)

/** Resolves once what a store does after its saves is done. */
export const settled = (store: RosterStore): Promise<unknown> => store.load()()

export const isDelete = ({ method }: Asked): boolean => method === 'DELETE'

export interface HeldBack {
  readonly held: ReadonlyArray<Asked>
  /** Lets all of it take effect, and holds back nothing more. */
  readonly arrive: () => void
}

/** Holds back what a test picks, whose answers are lost. */
export const holdBack = (server: ObjectServer, isPicked: (request: Asked) => boolean): HeldBack => {
  const held: Array<Asked> = []
  server.meddle = (request) => {
    if (!isPicked(request)) return undefined
    held.push(request)
    return lost(false)
  }
  return {
    held,
    arrive: (): void => {
      server.meddle = () => undefined
      for (const request of held) server.perform(request)
    },
  }
}
