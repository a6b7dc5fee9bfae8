import { finalizer } from '../../core/stored-object.js'
import type { World } from './world.js'

/** What breaking the glass costs, for whoever is about to. */
export const hazard: string = `This takes the finalizer ${finalizer} off, and nothing else; with a directory of
files it ends the waiting. Nothing shows then that the Envoys above have let go of
the route. They may go on sending its requests to its backends for as long as they
run with what they have, also when the backends are gone, or when their addresses
belong to somebody else, and no status will tell.`

/** `undefined` if the name was typed, or else why nothing is done. */
export const askForName = async (name: string, world: World): Promise<string | undefined> =>
  askFor(
    name,
    `Type the name of the route, NAMESPACE/NAME, to do it: `,
    'the name of the route',
    world,
  )

/** Asks for a word, which is called `what`; `undefined` if it was typed, or else why nothing is done. */
export const askFor = async (
  word: string,
  question: string,
  what: string,
  world: World,
): Promise<string | undefined> => {
  world.out(`\n${question}`)
  const line = await world.readLine?.()
  world.out('\n')
  if (line === undefined) return `${what} was not typed, nothing is done (--yes does not ask)`
  return line.trim() === word ? undefined : `this is not ${what}, nothing is done`
}
