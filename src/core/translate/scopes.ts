import { ScopedRouteConfiguration } from '../../gen/envoy/config/route/v3/scoped_route.js'
import type { DataPlane } from '../context.js'
import { bytesResource, type Resource } from '../resource.js'
import { scopeKey, shardTable, type TableForm } from '../table-form.js'

/**
 * The scopes of a data plane: which shard's table a request with a key is answered by.
 *
 * They are there in either form of its tables, as long as there may be shards: an Envoy asks for them only if it has
 * a listener that needs them, and one that drains such a listener needs them on. So they refer to nothing, for
 * in the whole form their tables are not there. No object stands in them.
 */
export const scopesOf = (
  { shards: offered = 0 }: Pick<DataPlane, 'shards'>,
  form: TableForm,
): ReadonlyArray<Resource> => {
  const inForce = form._tag === 'Sharded' ? form.shards : 0
  return [...new Set([offered, inForce])].flatMap((shards) =>
    Array.from({ length: shards }, (_, shard) => scopeOf(shards, shard)),
  )
}

/** The scope of one shard. */
export const scopeOf = (shards: number, shard: number): Resource => {
  const key = scopeKey(shards, shard)
  return bytesResource(
    key,
    ScopedRouteConfiguration.encode({
      name: key,
      routeConfigurationName: shardTable(shards, shard),
      key: { fragments: [{ type: { $case: 'stringKey', value: key } }] },
    }).finish(),
  )
}
