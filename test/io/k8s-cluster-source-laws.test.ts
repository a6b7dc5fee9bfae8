import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SourceState } from '../../src/ports/route-source.js'
import { lasting, namespaces, plan, play, type Played } from '../support/k8s-cluster-play.js'
import type { FakeKind } from '../support/k8s-fake-cluster.js'

type Contents = Readonly<Record<string, number>>

/** What the server had of a kind, after each change. */
const historyOf = ({ cluster }: Played, kind: FakeKind): ReadonlyArray<Contents> => {
  const history: Array<Contents> = [{}]
  for (const { type, object } of cluster.servers[kind].log()) {
    const before = Object.entries(history.at(-1) ?? {})
    const others = Object.fromEntries(before.filter(([name]) => name !== object.name))
    history.push(type === 'DELETED' ? others : { ...others, [object.name]: object.content })
  }
  return history
}

const inNamespace = (contents: Contents, namespace: string): Contents =>
  Object.fromEntries(Object.entries(contents).filter(([name]) => name.startsWith(`${namespace}/`)))

/** The generation of a route of the fake cluster is its content. */
const routesOf = ({ routes }: SourceState): Contents =>
  Object.fromEntries(
    routes.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.generation]),
  )

const namedIn = ({ routes }: SourceState): ReadonlySet<string> =>
  new Set(
    routes.flatMap(({ metadata, spec }) =>
      (spec.backends ?? []).map(({ service }) => `${metadata.namespace}/${service?.name}`),
    ),
  )

const servicesOf = ({ backends }: SourceState): Contents =>
  Object.fromEntries(
    (backends?.services ?? []).map(({ namespace, name, ports }) => [
      `${namespace}/${name}`,
      ports[0]?.port ?? 0,
    ]),
  )

const slicesOf = ({ backends }: SourceState): Contents =>
  Object.fromEntries(
    (backends?.endpointSlices ?? []).map(({ namespace, name, endpoints }) => [
      `${namespace}/${name}`,
      endpoints.length,
    ]),
  )

/** In each namespace, the routes of the states are those of moments of the server, one after the other. */
const tellsHistory = (played: Played): void => {
  const history = historyOf(played, 'edgeroutes')
  for (const namespace of namespaces) {
    let moment = 0
    for (const state of played.states) {
      const told = inNamespace(routesOf(state), namespace)
      const is = (at: number): boolean =>
        isDeepStrictEqual(inNamespace(history[at] ?? {}, namespace), told)
      while (moment < history.length && !is(moment)) moment += 1
      expect(moment, `no later moment had ${JSON.stringify(told)}`).toBeLessThan(history.length)
    }
  }
}

/** Exactly what routes name is there: if not, a problem says so. */
const hasWhatIsNamed = (played: Played): void => {
  const everWas = {
    services: historyOf(played, 'services'),
    endpointslices: historyOf(played, 'endpointslices'),
  }
  for (const state of played.states) {
    const named = namedIn(state)
    const [services, slices] = [servicesOf(state), slicesOf(state)]
    for (const [name, content] of Object.entries(services)) {
      expect(named).toContain(name)
      expect(everWas.services.some((contents) => contents[name] === content)).toBe(true)
    }
    for (const slice of state.backends?.endpointSlices ?? [])
      expect(named).toContain(`${slice.namespace}/${slice.service}`)
    for (const [name, content] of Object.entries(slices))
      expect(everWas.endpointslices.some((contents) => contents[name] === content)).toBe(true)
    const excused = state.problems
      .flatMap(({ errors }) => errors)
      .flatMap(({ message }) => /has not told yet of (.*?):/.exec(message)?.[1]?.split(', ') ?? [])
    for (const name of lasting.services) {
      if (!named.has(name) || excused.includes(name)) continue
      expect(services).toHaveProperty([name])
      expect(slices).toHaveProperty([`${name}-1`])
    }
  }
}

/** What lasts, and has not changed, is the same object. */
const keepsWhatIsTheSame = ({ states }: Played): void => {
  for (const [i, { backends }] of states.entries()) {
    const before = states[i - 1]?.backends
    if (before === undefined || backends === undefined) continue
    for (const service of backends.services) {
      const name = `${service.namespace}/${service.name}`
      const same = before.services.find((each) => isDeepStrictEqual(each, service))
      if (same !== undefined && lasting.services.includes(name)) expect(service).toBe(same)
    }
    const isSame =
      before.services.length === backends.services.length &&
      before.endpointSlices.length === backends.endpointSlices.length &&
      before.services.every((each, k) => each === backends.services[k]) &&
      before.endpointSlices.every((each, k) => each === backends.endpointSlices[k])
    expect(backends === before).toBe(isSame)
  }
}

/** In the first state nothing is excused: it comes when all is known. */
const beginsWhole = ({ states }: Played): void => {
  const problems = (states[0]?.problems ?? []).flatMap(({ errors }) => errors)
  expect(problems.filter(({ message }) => message.includes('has not told yet of'))).toEqual([])
}

/** However wrong Services are, changes after the first state are shown when they have been waited for. */
const waitsNotForever = (played: Played): void => {
  if (played.isRouteTrouble || played.waitedOut === 0) return
  const state = played.states[played.waitedOut - 1]
  expect(state && routesOf(state)).toEqual(historyOf(played, 'edgeroutes').at(-1))
}

/** In the end all is as on the server. */
const comesToRest = (played: Played): void => {
  const state = played.states.at(-1)
  if (state === undefined) throw new Error('there is no state')
  const named = namedIn(state)
  const valid = (kind: 'services' | 'endpointslices'): Contents =>
    Object.fromEntries(
      played.cluster.servers[kind]
        .objects()
        .filter(({ group, content }) => named.has(group) && content !== 0)
        .map(({ name, content }) => [name, content]),
    )
  expect(routesOf(state)).toEqual(historyOf(played, 'edgeroutes').at(-1))
  expect(servicesOf(state)).toMatchObject(valid('services'))
  expect(slicesOf(state)).toMatchObject(valid('endpointslices'))
  expect(state.problems.filter(({ where }) => !/^(Service|EndpointSlice) /.test(where))).toEqual([])
}

test('whatever becomes of routes, Services and slices, and however these fail, the states keep their laws', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (each) => {
      const played = await play(each)
      tellsHistory(played)
      hasWhatIsNamed(played)
      keepsWhatIsTheSame(played)
      beginsWhole(played)
      waitsNotForever(played)
      comesToRest(played)
    }),
    { numRuns: 100 },
  )
})
