import { execFile } from 'node:child_process'
import type { Either } from 'fp-ts/lib/Either.js'
import * as E from 'fp-ts/lib/Either.js'

export interface RunOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Its environment; also says where the program is looked for. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Lines of a failed program's output that are shown: the last ones say why. */
const shownLines = 5

/** Runs a program to its end: right is what it printed, left says in words why it failed. */
export const run = (
  file: string,
  args: ReadonlyArray<string>,
  { timeoutMs, signal, env }: RunOptions,
): Promise<Either<string, string>> =>
  new Promise((resolve) => {
    execFile(file, args, { timeout: timeoutMs, signal, env }, (error, stdout, stderr) => {
      if (error === null) return resolve(E.right(stdout))
      if (signal.aborted) return resolve(E.left('it was interrupted'))
      if (error.code === 'ENOENT') return resolve(E.left(`there is no ${file}`))
      if (error.killed === true)
        return resolve(E.left(`it did not end within ${timeoutMs / 1000} s`))
      const said = stderr.trim().split('\n').slice(-shownLines).join('; ')
      resolve(E.left(said === '' ? error.message : said))
    })
  })
