/** What a request to an API server is about, in Kubernetes' own words (those of RBAC). */
export interface ApiCall {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`. */
  readonly verb: string
  /** Empty for the core group. */
  readonly group: string
  /** With its subresource, as in `edgeroutes/status`; the path of what is no resource, as in `/version`. */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly query: URLSearchParams
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

/** Whether it may change something. */
export const isWrite = ({ verb }: ApiCall): boolean => writes.has(verb)

/** Reads a request's method and target, as the API server itself reads them. */
export const apiCallOf = (method: string, target: string): ApiCall => {
  const { pathname, searchParams: query } = new URL(target, 'https://server')
  const verb = verbs[method] ?? method.toLowerCase()
  const [root, ...parts] = pathname.split('/').filter((part) => part !== '')
  const group = root === 'api' ? '' : (parts[0] ?? '')
  const rest = parts.slice(root === 'api' ? 1 : 2)
  if ((root !== 'api' && root !== 'apis') || rest.length === 0)
    return { verb, group: '', resource: pathname, namespace: undefined, name: undefined, query }
  // `namespaces/shop` is an object of its own, and so is `namespaces/shop/finalize`; all else lies in it.
  const isInside = rest[0] === 'namespaces' && rest.length > 2 && !namespaceParts.has(rest[2] ?? '')
  const [kind = '', name, ...subresource] = isInside ? rest.slice(2) : rest
  return {
    verb: name === undefined ? (verbsOfMany[verb]?.(query) ?? verb) : verb,
    group,
    resource: [kind, ...subresource].join('/'),
    namespace: isInside ? rest[1] : undefined,
    name,
    query,
  }
}

const namespaceParts = new Set(['finalize', 'status'])

const isTrue = (value: string | null): boolean => value === 'true' || value === '1'

/** What a verb is called where it is not about one object. */
const verbsOfMany: Readonly<Record<string, (query: URLSearchParams) => string>> = {
  get: (query) => (isTrue(query.get('watch')) ? 'watch' : 'list'),
  delete: () => 'deletecollection',
}
