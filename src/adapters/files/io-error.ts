import { lstat } from 'node:fs/promises'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'it is not a directory',
  ELOOP: 'its symbolic links lead in a circle',
  EMFILE: 'this process has too many open files',
  ENFILE: 'this machine has too many open files',
  EIO: 'the disk reports an error',
  ENXIO: 'it is not a regular file',
}

/** An error of the file system in words. */
export const showIoError = (error: unknown): string =>
  reasons[codeOf(error) ?? ''] ?? (error instanceof Error ? error.message : String(error))

/** True if an error says that there is nothing at a path. A link to nowhere is something. */
export const isGone = async (path: string, error: unknown): Promise<boolean> =>
  codeOf(error) === 'ENOENT' &&
  !(await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  ))

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined
