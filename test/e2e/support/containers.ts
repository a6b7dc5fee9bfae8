import { execFile, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../../support/envoy.js'
import type { ClusterAccess } from '../cluster/cluster.js'
import type { Manifest } from './edge-objects.js'

/** What we use of a Deployment with one container. */
export interface Deployment extends Manifest {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly containers: readonly [Container]
        readonly volumes?: ReadonlyArray<{
          readonly name: string
          readonly configMap: { readonly name: string }
        }>
      }
    }
  }
}

interface Container {
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyArray<{
    readonly name: string
    readonly valueFrom: { readonly fieldRef: { readonly fieldPath: string } }
  }>
  readonly ports: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>
  readonly startupProbe?: { readonly exec: { readonly command: ReadonlyArray<string> } }
  readonly readinessProbe: { readonly httpGet?: { readonly path: string; readonly port: string } }
  readonly volumeMounts?: ReadonlyArray<{ readonly name: string; readonly mountPath: string }>
}

export interface ConfigMap extends Manifest {
  readonly metadata: { readonly name: string }
  readonly data: Readonly<Record<string, string>>
}

/** The command of the one container of a Pod, as a kubelet makes it of what the Deployment says. */
export interface PodCommand {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly container: Container
}

/** Makes the Pod that its controller would make of a Deployment. No node ever runs it: that is left to the test. */
export const makePod = async (
  cluster: ClusterAccess,
  { metadata: { name, namespace }, spec: { template } }: Deployment,
): Promise<PodCommand> => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...template.metadata } }
  const path = `/api/v1/namespaces/${namespace}/pods`
  // There is none before the namespace has its service account.
  const { body } = await eventually(
    () => cluster.request({ method: 'POST', path, body: { ...pod, spec: template.spec } }),
    ({ status }) => status === 201,
    30_000,
  )
  const { metadata } = body as { readonly metadata: Readonly<Record<string, string>> }
  const [container] = template.spec.containers
  const own = container.env.map(({ name: key, valueFrom: { fieldRef } }) => {
    const value = metadata[fieldRef.fieldPath.replace(/^metadata\./, '')]
    if (value === undefined) throw new Error(`no Pod has ${fieldRef.fieldPath}`)
    return [key, value] as const
  })
  const { hostname, port } = new URL(cluster.url)
  const env = {
    PATH: process.env['PATH'] ?? '',
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ...Object.fromEntries(own),
  }
  const expand = (text: string): string =>
    own.reduce((all, [key, value]) => all.replaceAll(`$(${key})`, value), text)
  return { args: container.args.map(expand), env, container }
}

/** Writes the files of the volumes of a Deployment into a folder, and returns the command that looks for them there. */
export const withVolumes = async (
  command: PodCommand,
  { spec: { template } }: Deployment,
  configMaps: ReadonlyArray<ConfigMap>,
  directory: string,
): Promise<PodCommand> => {
  let args = command.args
  for (const { name, mountPath } of command.container.volumeMounts ?? []) {
    const volume = template.spec.volumes?.find((each) => each.name === name)
    const map = configMaps.find(({ metadata }) => metadata.name === volume?.configMap.name)
    if (map === undefined) throw new Error(`there is no ConfigMap for the volume ${name}`)
    await mkdir(join(directory, name), { recursive: true })
    for (const [file, text] of Object.entries(map.data))
      await writeFile(join(directory, name, file), text)
    args = args.map((each) => each.replace(mountPath, join(directory, name)))
  }
  return { ...command, args }
}

/** A container that runs as a process. */
export interface Running {
  /** What it has written to its standard error. */
  readonly log: () => string
  /** Sends it a signal, and returns its exit code; `undefined` where it was killed. */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | undefined>
}

/** Runs the entry point of an image with the arguments and the environment of a Pod, and no others. */
export const runContainer = (
  { args, env }: PodCommand,
  [program = '', ...first]: ReadonlyArray<string>,
): Running => {
  const child = spawn(program, [...first, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const killNow = (): void => void child.kill('SIGKILL')
  process.on('exit', killNow)
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
  const ended = new Promise<number | undefined>((resolve) => {
    child.on('error', ({ message }) => (log += message))
    child.on('close', (code) => resolve(code ?? undefined))
  }).finally(() => process.off('exit', killNow))
  return {
    log: () => log,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}

/** Whether what a probe runs says that all is well. */
export const passesProbe = (
  { env }: PodCommand,
  [program = '', ...args]: ReadonlyArray<string>,
): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(program, args, { env }, (error) => resolve(error === null))
  })
