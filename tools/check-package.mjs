// Packs the package, and uses it as a stranger would: from the tarball, in an empty project.
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const work = mkdtempSync(join(tmpdir(), 'edgewright-package-'))
const project = join(work, 'project')

const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const bin = (name) => join(root, 'node_modules', '.bin', name)
const say = (text) => console.log(`package: ${text}`)

const fail = (text) => {
  throw new Error(`package: ${text}`)
}

const has = (name) => existsSync(join(project, 'node_modules', ...name.split('/')))

try {
  // In a clone `npx edgewright` runs what was built, and nobody sets the bit there.
  for (const path of Object.values(manifest.bin)) accessSync(join(root, path), constants.X_OK)
  say('its program is executable as built')

  const [packed] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work], root),
  )
  const tarball = join(work, packed.filename)
  const strays = packed.files.map(({ path }) => path).filter((path) => /^(src|test|\.)/.test(path))
  if (strays.length > 0) fail(`the tarball has files that nobody needs: ${strays.join(', ')}`)
  say(`${packed.files.length} files, ${Math.round(packed.size / 1024)} KiB`)

  run(bin('publint'), ['run', tarball, '--strict', '--level', 'suggestion'], root)
  say('publint has nothing to say')
  run(bin('attw'), [tarball, '--profile', 'esm-only'], root)
  say('the types are not wrong')

  run('mkdir', ['-p', project], work)
  const dependencies = { edgewright: `file:${tarball}` }
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'stranger', private: true, type: 'module', dependencies }),
  )
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'], project)
  for (const name of ['@grpc/grpc-js', '@kubernetes/client-node', 'yaml', 'fast-check'])
    if (has(name)) fail(`a user of the core gets ${name}`)
  for (const name of ['fp-ts', 'io-ts', 're2js', '@bufbuild/protobuf'])
    if (!has(name)) fail(`a user of the core lacks ${name}`)
  say('a user of the core gets fp-ts, io-ts, re2js and the protobuf runtime, and no more')

  writeFileSync(
    join(project, 'core.mjs'),
    `import { translate, snapshotOf } from 'edgewright'
     import { memoryControlPlane } from 'edgewright/memory'
     if (translate([]).verdicts.size !== 0 || snapshotOf([]).dataPlanes.size !== 1) throw new Error('core')
     memoryControlPlane().publish(snapshotOf([]))`,
  )
  run('node', ['core.mjs'], project)
  say('the root and /memory work in plain Node')

  const missing = execFileSync(
    'node',
    ['-e', `import('edgewright/xds').catch((e) => console.log(e.message))`],
    {
      cwd: project,
      encoding: 'utf8',
    },
  )
  if (!missing.includes('@grpc/grpc-js')) fail(`/xds without its peer says: ${missing}`)

  const version = run(join(project, 'node_modules', '.bin', 'edgewright'), ['--version'], project)
  if (!version.includes(manifest.version)) fail(`edgewright --version says ${version}`)

  const peers = [
    '@grpc/grpc-js',
    '@kubernetes/client-node',
    'yaml',
    'typescript',
    '@types/node',
  ].map((name) => `${name}@${manifest.devDependencies[name]}`)
  run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent', ...peers],
    project,
  )
  writeFileSync(
    join(project, 'all.ts'),
    `import { writeFileSync } from 'node:fs'
     import { translate, type EdgeRoute } from 'edgewright'
     import { serveXds } from 'edgewright/xds'
     import { memoryControlPlane } from 'edgewright/memory'
     import { filesRouteSource } from 'edgewright/files'
     import { runController, systemClock } from 'edgewright/host'
     import { connectKubernetes, kubernetesSource, loadKubeConfig } from 'edgewright/k8s'
     const routes: ReadonlyArray<EdgeRoute> = []
     const stop = new AbortController()
     const server = await serveXds({ host: '127.0.0.1', port: 0 }, stop.signal)
     server.publish(translate(routes).snapshot)
     memoryControlPlane().publish(translate(routes).snapshot)
     const controlled = runController(
       { source: filesRouteSource({ directory: '.' }), sink: server, clock: systemClock },
       stop.signal,
     )
     writeFileSync('kubeconfig', JSON.stringify({
       clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
       contexts: [{ name: 'c', context: { cluster: 'c', user: '' } }],
       'current-context': 'c',
     }))
     const kubeConfig = await loadKubeConfig({ _tag: 'Files', paths: ['kubeconfig'] })
     if (kubeConfig._tag === 'Left') throw new Error(kubeConfig.left)
     const client = connectKubernetes({ kubeConfig: kubeConfig.right })
     const followed = kubernetesSource(client).watch(() => undefined, stop.signal)()
     stop.abort()
     await Promise.all([controlled, server.finished, followed])
     client.close()`,
  )
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        target: 'ES2022',
        lib: ['ES2023'],
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
      },
      files: ['all.ts'],
    }),
  )
  run(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.'], project)
  run('node', ['all.js'], project)
  say('every entry point type-checks without skipLibCheck, and works')
} finally {
  rmSync(work, { recursive: true, force: true })
}
