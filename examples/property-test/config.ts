import type { EdgeRoute, EdgeRouteSpec } from 'edgewright'

/** A team, and the paths that it wants under our domain. */
export interface Team {
  readonly name: string
  readonly paths: ReadonlyArray<string>
  readonly port: number
}

/** Every site of ours; the landing page is on the first one. */
export const sites = ['www.shop.test', '*.shop.test'] as const

/**
 * The routing configuration: one route for each team, and a landing page for the rest of www.shop.test. The most
 * specific host decides, so teams must ask for that host, too, or the landing page takes their requests there.
 */
export const routesOf = (
  teams: ReadonlyArray<Team>,
  hostnames: ReadonlyArray<string> = sites,
): ReadonlyArray<EdgeRoute> => [
  route('landing', { hostnames: [sites[0]], redirect: { path: '/welcome', code: 302 } }),
  ...teams.map(({ name, paths, port }) =>
    route(`team-${name}`, {
      hostnames,
      matches: paths.map((prefix) => ({ path: { prefix } })),
      backends: [{ address: { host: '10.0.0.1', port } }],
    }),
  ),
]

const route = (name: string, spec: EdgeRouteSpec): EdgeRoute => ({
  metadata: { namespace: 'edge', name, uid: name, generation: 1, finalizers: [] },
  spec,
})
