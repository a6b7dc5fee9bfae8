import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { compareStrings } from '../../core/order.js'
import { isGone, showIoError } from './io-error.js'
import type { Gap } from './gap.js'

/** How many files are read: what a fleet needs, 50,000 routes say, fits into far fewer. */
export const maxFiles = 10_000

/** How many directories are followed: each of them costs the kernel a watch. */
export const maxDirectories = 1_000

/** How many levels of directories below the first are followed. */
export const maxDepth = 8

export interface Limits {
  readonly files: number
  readonly directories: number
  readonly depth: number
}

const defaultLimits: Limits = { files: maxFiles, directories: maxDirectories, depth: maxDepth }

export interface Listing {
  /** Relative paths with `/` between their parts, of all that is called `*.yaml` or `*.yml`. */
  readonly files: ReadonlyArray<string>
  readonly directories: ReadonlyArray<ListedDirectory>
  readonly gaps: ReadonlyArray<Gap>
}

export interface ListedDirectory {
  /** Relative; empty for the directory itself. */
  readonly path: string
  /** Tells it from another directory that was at this path before. */
  readonly id: string
  /** Another one after every name that comes, goes or is replaced in it. */
  readonly touched: string
}

/**
 * Lists the files of a directory and of those below it. Rejects if the directory itself cannot be
 * listed; what else cannot be listed is a gap.
 *
 * Names that begin with a dot are passed over; links are followed, as in a mounted ConfigMap, where
 * `shop.yaml` leads to `..data/shop.yaml`. A directory that is reached on several ways, or by a
 * link from within itself, is listed once, on the first way in the order of paths.
 */
export const list = async (
  root: string,
  isStopped: () => boolean,
  limits: Limits = defaultLimits,
): Promise<Listing> => {
  const walk: Walk = {
    root,
    isStopped,
    limits,
    files: [],
    directories: [],
    gaps: [],
    visited: new Set(),
  }
  await enter(walk, '', 0)
  const { files, directories, gaps } = walk
  if (files.length <= limits.files) return { files, directories, gaps }
  const last = files[limits.files - 1] ?? ''
  const message = `has more than ${limits.files} files; those behind ${last} are not read`
  return {
    files: files.slice(0, limits.files),
    directories,
    gaps: [{ path: '', message }, ...gaps],
  }
}

/** A listing that grows. */
interface Walk {
  readonly root: string
  readonly isStopped: () => boolean
  readonly limits: Limits
  readonly files: Array<string>
  readonly directories: Array<ListedDirectory>
  readonly gaps: Array<Gap>
  /** The directories themselves, whatever their paths. */
  readonly visited: Set<string>
}

const enter = async (walk: Walk, path: string, depth: number): Promise<void> => {
  const absolute = join(walk.root, path)
  const { dev, ino, birthtimeNs, mtimeNs } = await stat(absolute, { bigint: true })
  const id = `${dev}:${ino}`
  if (walk.visited.has(id)) return
  const refusal = refusalOf(walk, depth)
  if (refusal !== undefined) {
    walk.gaps.push({ path, message: refusal })
    return
  }
  const entries = await readdir(absolute, { withFileTypes: true })
  walk.visited.add(id)
  walk.directories.push({ path, id: `${id}:${birthtimeNs}`, touched: `${mtimeNs}` })
  for (const entry of entries.sort((a, b) => compareStrings(a.name, b.name)))
    if (!entry.name.startsWith('.')) await take(walk, entry, inside(path, entry.name), depth)
}

const take = async (walk: Walk, entry: Dirent, path: string, depth: number): Promise<void> => {
  if (walk.isStopped() || walk.files.length > walk.limits.files) return
  if (isFileOfRoutes(entry.name)) walk.files.push(path)
  else if (!entry.isFile()) await enterBelow(walk, path, depth + 1)
}

/** Goes into what may be a directory, or a link to one. */
const enterBelow = async (walk: Walk, path: string, depth: number): Promise<void> => {
  const absolute = join(walk.root, path)
  try {
    if ((await stat(absolute)).isDirectory()) await enter(walk, path, depth)
  } catch (error) {
    if (await isGone(absolute, error)) return
    walk.gaps.push({ path, message: `cannot be read: ${showIoError(error)}` })
  }
}

const isFileOfRoutes = (name: string): boolean => /\.ya?ml$/.test(name)

const inside = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`)

const refusalOf = ({ limits, directories }: Walk, depth: number): string | undefined => {
  if (depth > limits.depth) return `is not read: it is more than ${limits.depth} levels deep`
  if (directories.length < limits.directories) return undefined
  return `is not read: there are more than ${limits.directories} directories`
}
