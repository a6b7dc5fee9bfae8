/**
 * In which tables the virtual hosts of a data plane stand.
 *
 * One table costs Envoy's main thread 6 to 12 µs for every host at each change, whatever has changed. In shards a
 * change costs what one of them does, and each request a few µs: a filter has to tell its shard.
 * The form is nobody's business: the same requests get the same answers in each.
 */
export type TableForm =
  /** Each listener has all hosts in one table, which has its name. */
  | { readonly _tag: 'Whole' }
  /**
   * All listeners share these tables: each host stands in the one that `shardOf` says, and hosts with a wildcard in
   * every one, so that Envoy finds in any of them the one that is most exact.
   */
  | { readonly _tag: 'Sharded'; readonly shards: number }

export const wholeForm: TableForm = { _tag: 'Whole' }

export const isSameForm = (a: TableForm, b: TableForm): boolean =>
  a._tag === 'Whole' ? b._tag === 'Whole' : b._tag === 'Sharded' && a.shards === b.shards

/** The header in which the filter writes the key of the shard; clients and upstreams never see it. */
export const scopeHeader = 'x-edgewright-scope'

/**
 * The most shards that a data plane may have: 200 hosts in each are 800,000. Each is a table and a scope in every
 * Envoy, and who asks for the table of one has them all derived.
 */
export const maxShards = 4096

/** The name of the table of a shard. It says how many there are: with another number these are other tables. */
export const shardTable = (shards: number, shard: number): string => `shard-${shards}-${shard}`

/** The key by which a request finds that table, and the name of the scope that says so. */
export const scopeKey = (shards: number, shard: number): string => `${shards}-${shard}`

/** The shard of the table with this name, or `undefined` if it is none of a shard. */
export const shardNamed = (
  table: string,
): { readonly shards: number; readonly shard: number } | undefined => {
  const [, shards, shard] = /^shard-([1-9][0-9]{0,3})-(0|[1-9][0-9]{0,3})$/.exec(table) ?? []
  const found = { shards: Number(shards), shard: Number(shard) }
  return found.shard < found.shards && found.shards <= maxShards ? found : undefined
}

/** True for a host that stands in every shard, as many requests' hosts may mean it. */
export const isWildcard = (host: string): boolean => host.startsWith('*')

/**
 * The shard of a host, which has no port and no capital letters in it.
 *
 * `scopeScript` computes the same: every product stays below 2^53, where the numbers of both languages are exact.
 * The modulus is a prime: with a power of two as the modulus names that differ in a number crowd together (256 shards
 * of 50,000 such names: 83 to 339 in each, with the prime one 161 to 237).
 */
export const shardOf = (host: string, shards: number): number => {
  let sum = hashSeed
  for (const byte of Buffer.from(host)) sum = (sum * hashFactor + byte) % hashModulus
  return sum % shards
}

const hashSeed = 5381
const hashFactor = 31
const hashModulus = 16_777_213

/** How many Host headers each worker of an Envoy remembers the shard of, and how long they are at most, in bytes. */
const remembered = { count: 4_096, length: 255 }

/**
 * The Lua that tells the shard of a request. The port goes off as it does for `ignore_port_in_host_matching`, which is
 * what follows the last colon that is not inside of brackets (Envoy, HeaderUtility::getPortStart).
 *
 * A worker remembers what it has computed, since clients name few hosts again and again; one that names many makes it
 * begin anew, and has it hold some MB at most.
 */
export const scopeScript = (shards: number): string => `local byte = string.byte
local known, count = {}, 0
local function key_of(authority)
  local host = authority:lower()
  host = host:match("^(.*):[^%]:]*$") or host
  local sum = ${hashSeed}
  for i = 1, #host do sum = (sum * ${hashFactor} + byte(host, i)) % ${hashModulus} end
  return "${shards}-" .. string.format("%d", sum % ${shards})
end
function envoy_on_request(handle)
  local headers = handle:headers()
  local authority = headers:get(":authority") or ""
  local key = known[authority]
  if key == nil then
    key = key_of(authority)
    if #authority <= ${remembered.length} then
      if count >= ${remembered.count} then known, count = {}, 0 end
      known[authority] = key
      count = count + 1
    end
  end
  headers:replace("${scopeHeader}", key)
end
`
