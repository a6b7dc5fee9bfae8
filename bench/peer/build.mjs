import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const program = fileURLToPath(new URL('../../.cache/bench/peer', import.meta.url))

/**
 * Builds the Go peer into .cache/, and returns its path. Cold it takes a minute and Go's module proxy; after that Go's
 * own caches have everything, and it takes a second without a network.
 */
export const buildPeer = () => {
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    GOFLAGS: '-mod=readonly -trimpath -buildvcs=false',
  }
  try {
    execFileSync('go', ['build', '-o', program, '.'], { cwd: folder, env, stdio: 'inherit' })
  } catch (cause) {
    const why =
      'The Go peer could not be built. It needs Go as bench/peer/go.mod names it, in PATH.'
    throw new Error(why, { cause })
  }
  return program
}
