import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { type RouteKey, showKey } from '../../core/edge-route.js'
import type { BrokenDocument, RouteDocument, RoutesDocument } from '../admin/document.js'
import type { HostPort } from '../bootstrap.js'
import { askAdmin } from './admin/client.js'
import { brokenDecoder } from './admin/decode.js'
import { adminFrom, adminWords, failed, parseRouteKey, routeOperand } from './admin/run.js'
import { countEnvoys, showHeldUp } from './admin/show-node.js'
import { isTerminating } from '../admin/document.js'
import { showRoutes } from './admin/show-route.js'
import { printable, showName } from './admin/words.js'
import { breakGlassInCluster } from './cluster/break-glass.js'
import { askApiServer, clusterFrom, clusterOptions } from './cluster/options.js'
import { type Command, hasFlag, type Option } from './command.js'
import { routeQuestion } from './explain.js'
import { askForName, hazard } from './glass.js'
import { adminOption } from './options.js'
import { exitCodes, type ExitCode, type World } from './world.js'

const yesOption: Option = { name: 'yes', help: 'do not ask for the name of the route' }

/** Stops waiting for any Envoy with one route. */
export const breakGlassCommand: Command = {
  name: 'break-glass',
  summary: 'let a route go that is Terminating, proven gone or not',
  description: `Shows why a route is Terminating, asks for its name, and stops waiting. With
--kubernetes this needs no control plane that is at work.

${hazard}`,
  operands: [routeOperand],
  options: [adminOption, ...clusterOptions(askApiServer), yesOption],
  prepare: (args) =>
    pipe(
      E.Do,
      E.bind('key', () => parseRouteKey(args.operands[0] ?? '')),
      E.bind('admin', () => adminFrom(breakGlassCommand, args)),
      E.bind('cluster', () => clusterFrom(args)),
      E.map(({ key, admin, cluster }) => (world) => {
        const isAgreed = hasFlag(args, yesOption.name)
        return cluster === undefined
          ? breakGlass(key, admin, isAgreed, world)
          : breakGlassInCluster(key, cluster, isAgreed, world)
      }),
    ),
}

const breakGlass = async (
  key: RouteKey,
  admin: HostPort,
  isAgreed: boolean,
  world: World,
): Promise<ExitCode> => {
  const found = await askAdmin(admin, routeQuestion(key), world.signal)
  if (E.isLeft(found)) return failed(world, 'break-glass', found.left)
  world.out(showRoutes(found.right, adminWords(admin)))
  const terminating = found.right.routes.filter(({ state }) => isTerminating(state))
  if (terminating.length === 0)
    return failed(world, 'break-glass', `${showName(showKey(key))} ${noGlass(found.right)}`)
  world.out(`\n${hazard}\n`)
  const refusal = isAgreed ? undefined : await askForName(showKey(key), world)
  return refusal === undefined
    ? breakIt(key, terminating, admin, world)
    : failed(world, 'break-glass', refusal)
}

/** Why there is nothing to be broken. */
const noGlass = ({ routes }: RoutesDocument): string =>
  routes.some(({ state }) => state === 'Released')
    ? 'is not held by edgewright: see what owns its finalizers'
    : 'is not being deleted'

/** Only for the objects that were shown: another one may have come under the name meanwhile. */
const breakIt = async (
  key: RouteKey,
  shown: ReadonlyArray<RouteDocument>,
  admin: HostPort,
  world: World,
): Promise<ExitCode> => {
  const question = {
    method: 'POST',
    path: ['v1', 'routes', key.namespace, key.name, 'break-glass'],
    body: { uids: shown.map(({ uid }) => uid) },
    decoder: brokenDecoder,
  } as const
  const answer = await askAdmin(admin, question, world.signal)
  if (E.isLeft(answer)) return failed(world, 'break-glass', answer.left)
  world.out(`\n${showName(showKey(key))} is released.\n${proofWords(answer.right)}\n`)
  return exitCodes.ok
}

/** What had been proven, and what not. */
const proofWords = ({ unconfirmed, unconfirmedCount, waitedFor }: BrokenDocument): string => {
  if (unconfirmedCount > 0)
    return `${countEnvoys(unconfirmedCount)} had not confirmed: ${showHeldUp(unconfirmed, unconfirmedCount)}`
  return waitedFor === undefined
    ? 'Every Envoy had confirmed.'
    : `It was not proven gone: ${printable(waitedFor.message)}`
}
