// Makes the programs of a package executable: tsc writes every file without the bit, and npm sets it only where a
// package is installed from its tarball.
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [root = '.'] = process.argv.slice(2)
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
for (const path of Object.values(bin)) chmodSync(join(root, path), 0o755)
