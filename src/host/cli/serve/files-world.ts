import { readdir } from 'node:fs/promises'
import * as E from 'fp-ts/lib/Either.js'
import { type FilesAdapter, loadFiles, loadMemory } from '../peers.js'
import type { SourceOptions } from './source-options.js'
import type { MakingSurroundings } from './surroundings.js'

type FilesSource = Extract<SourceOptions, { readonly _tag: 'Files' }>

/** Routes in a directory: nothing but the roster is kept, in a file that no other process keeps one in meanwhile. */
export const filesWorld = async ({ directory, roster }: FilesSource): MakingSurroundings => {
  const files = await loadFiles()
  if (E.isLeft(files)) return E.left([files.left])
  const missing = await whyUnreadable(files.right, directory)
  if (missing !== undefined) return E.left([missing])
  const lock = roster === undefined ? undefined : await files.right.lockRoster(roster)
  if (lock !== undefined && E.isLeft(lock)) return E.left([`--roster: ${lock.left}`])
  return E.right({
    ports: {
      source: files.right.filesRouteSource({ directory }),
      roster:
        roster === undefined
          ? (await loadMemory()).memoryRosterStore()
          : files.right.filesRosterStore({ path: roster }),
    },
    ready: () => Promise.resolve(),
    whyNotReady: () => undefined,
    over: new AbortController().signal,
    begin: () => Promise.resolve(),
    close: async () => lock?.right.release(),
  })
}

/**
 * Why a directory cannot be served, in the words of whoever reads it; `undefined` if it can be. Is asked before
 * anybody can connect: a name that is wrong would be tried again for ever. What was there once may come back.
 */
const whyUnreadable = async (
  { readRoutesOnce }: FilesAdapter,
  directory: string,
): Promise<string | undefined> => {
  const isThere = await readdir(directory).then(
    () => true,
    () => false,
  )
  const state = isThere ? undefined : await readRoutesOnce(directory)()
  return state !== undefined && E.isLeft(state) ? state.left.message : undefined
}
