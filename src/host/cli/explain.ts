import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { RouteKey } from '../../core/edge-route.js'
import type { HostPort } from '../bootstrap.js'
import type { RoutesDocument } from '../admin/document.js'
import { askAdmin, type Question } from './admin/client.js'
import { routesDecoder } from './admin/decode.js'
import { adminFrom, adminWords, failed, parseRouteKey, routeOperand } from './admin/run.js'
import { showRoutes } from './admin/show-route.js'
import { showJson } from './admin/words.js'
import { explainInCluster } from './cluster/explain.js'
import { askApiServer, clusterFrom, clusterOptions } from './cluster/options.js'
import { type Command, valueOf } from './command.js'
import { adminOption, outputOption, type OutputFormat, outputFormats } from './options.js'
import { parseChoice } from './values.js'
import { exitCodes, type ExitCode, type World } from './world.js'

/** Says why a route is where it is. */
export const explainCommand: Command = {
  name: 'explain',
  summary: 'say why a route is where it is, and what its deletion waits for',
  description: `Asks a running edgewright serve about one route: how it stands, its
conditions, and while it is Terminating each Envoy that has not confirmed, since
when it is connected or lost, what it said last, and what to do next. With
--kubernetes it asks the API server in its place: the conditions of the object,
which Envoys it waits for, and its finalizers. Exits with 1 if there is no such
route.`,
  operands: [routeOperand],
  options: [adminOption, ...clusterOptions(askApiServer), outputOption],
  prepare: (args) =>
    pipe(
      E.Do,
      E.bind('key', () => parseRouteKey(args.operands[0] ?? '')),
      E.bind('admin', () => adminFrom(explainCommand, args)),
      E.bind('cluster', () => clusterFrom(args)),
      E.bind('output', () =>
        parseChoice('--output', valueOf(explainCommand, args, 'output') ?? '', outputFormats),
      ),
      E.map(({ cluster, ...options }) => (world) => {
        const { key, output } = options
        return cluster === undefined
          ? explain(options, world)
          : explainInCluster(key, cluster, output, world)
      }),
    ),
}

interface ExplainOptions {
  readonly key: RouteKey
  readonly admin: HostPort
  readonly output: OutputFormat
}

const explain = async ({ key, admin, output }: ExplainOptions, world: World): Promise<ExitCode> => {
  const answer = await askAdmin(admin, routeQuestion(key), world.signal)
  if (E.isLeft(answer)) return failed(world, 'explain', answer.left)
  world.out(
    output === 'json' ? `${showJson(answer.right)}\n` : showRoutes(answer.right, adminWords(admin)),
  )
  return exitCodes.ok
}

export const routeQuestion = ({ namespace, name }: RouteKey): Question<RoutesDocument> => ({
  method: 'GET',
  path: ['v1', 'routes', namespace, name],
  decoder: routesDecoder,
})
